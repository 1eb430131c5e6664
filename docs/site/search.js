/* To the search, hyphens before a word mean "pages without it". Here they begin an option: --isolation-level asks for
   pages that have both words. */
const post = Worker.prototype.postMessage;
const wordsOf = (_, blank, option) => blank + option.split("-").map((word) => `+${word}`).join(" ");
Worker.prototype.postMessage = function (message, ...others) {
  if (message && typeof message.data === "string") {
    message = { ...message, data: message.data.replace(/(^|\s)-+(\w[\w-]*)/g, wordsOf) };
  }
  return post.call(this, message, ...others);
};
