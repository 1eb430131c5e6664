/* Lets the search run in a page that is opened as a file, where browsers start no worker. The worker's script runs in a hidden
   frame, and messages go to it and come from it as with a worker. */
"use strict";
class FileWorker extends EventTarget {
  onmessage = null;

  constructor(address) {
    super();
    this.frame = document.createElement("iframe");
    this.frame.hidden = true;
    document.body.append(this.frame);
    const inside = this.frame.contentWindow;
    inside.postMessage = (data) => {
      const message = new MessageEvent("message", { data: structuredClone(data) });
      this.dispatchEvent(message);
      this.onmessage?.(message);
    };
    // A worker loads scripts at once; here the caller waits for them, which the search does.
    inside.importScripts = async (...addresses) => {
      for (const one of addresses) await this.load(one);
    };
    this.loaded = this.load(new URL(address, location).href);
  }

  load(address) {
    const script = this.frame.contentDocument.createElement("script");
    return new Promise((resolve, reject) => {
      script.src = address;
      script.onload = resolve;
      script.onerror = () => reject(new Error(`${address} cannot be loaded`));
      this.frame.contentDocument.body.append(script);
    });
  }

  async postMessage(data) {
    const copy = structuredClone(data);
    await this.loaded;
    const inside = this.frame.contentWindow;
    inside.dispatchEvent(new inside.MessageEvent("message", { data: copy }));
  }

  terminate() {
    this.frame.remove();
  }
}
if (location.protocol === "file:") {
  // Material for MkDocs looks for this name to find its other scripts.
  window.IFrameWorker = FileWorker;
  window.Worker = FileWorker;
}
