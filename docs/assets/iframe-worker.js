// A page that is opened from a disk may not start workers, and the search runs in one. Here a hidden frame takes
// the place of the worker: it runs the same script and exchanges the same messages.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.title = "search";
      document.documentElement.append(this.frame);
      const inside = this.frame.contentWindow;
      // A worker answers with postMessage; in a frame that name is the frame's own inbox.
      inside.postMessage = (data) => {
        const message = new MessageEvent("message", { data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      };
      this.ready = new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.src = new URL(address, location.href).href;
        script.onload = () => resolve(inside);
        script.onerror = () => reject(new Error(`cannot load ${script.src}`));
        inside.document.documentElement.append(script);
      });
    }
    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
