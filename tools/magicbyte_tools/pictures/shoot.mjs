// Usage: node shoot.mjs FOLDER_WITH_NODE_MODULES CHROMIUM JOBS
// Takes pictures of pages of this machine. JOBS is JSON: a list of {page, picture, width, height, from, clicks}.
import path from "node:path";
import { createRequire } from "node:module";

const [modules, executablePath, jobs] = process.argv.slice(2);
const { chromium } = createRequire(path.resolve(modules, "_"))("playwright-core");
// A container's root has no user namespace for Chromium's sandbox, and the pages are our own.
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-lcd-text"] });
try {
  for (const { page, picture, width, height, from, clicks } of JSON.parse(jobs)) {
    const tab = await browser.newPage({ viewport: { width, height }, colorScheme: "light", offline: true });
    await tab.goto(page);
    for (const text of clicks) await tab.getByText(text, { exact: false }).first().click();
    const top = from ? await tab.locator(from).evaluate((element) => element.getBoundingClientRect().top + scrollY - 16) : 0;
    await tab.screenshot({ path: picture, fullPage: true, clip: { x: 0, y: top, width, height } });
    await tab.close();
  }
} finally {
  await browser.close();
}
