// Usage: node search.mjs FOLDER_WITH_NODE_MODULES CHROMIUM PAGE QUERY...
// Prints the links that the search of a page of this machine shows for each query, and the requests to other hosts.
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, executablePath, page, ...queries] = process.argv.slice(2);
const { chromium } = createRequire(path.resolve(modules, "_"))("playwright-core");
// A container's root has no user namespace for Chromium's sandbox, and no stranger's page is opened.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const links = {};
  const requests = [];
  for (const query of queries) {
    const tab = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    tab.on("request", (request) => {
      if (!/^(file|data|about|blob):/.test(request.url())) requests.push(request.url());
    });
    await tab.goto(pathToFileURL(page).href);
    await tab.focus("input.md-search__input");
    await tab.keyboard.type(query);
    await tab.waitForSelector(".md-search-result__link", { state: "attached", timeout: 20000 });
    await tab.waitForTimeout(500);
    links[query] = await tab.$$eval(".md-search-result__link", (found) =>
      found.map((link) => link.href.replace(/[?]h=[^#]*/, "")),
    );
    await tab.close();
  }
  process.stdout.write(JSON.stringify({ links, requests }));
} finally {
  await browser.close();
}
