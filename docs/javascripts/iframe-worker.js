// A browser starts no worker for a page that was opened from a folder. There, and there alone, the
// script of a worker runs in a hidden frame, so that the search works without a server.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      this.inside = this.frame.contentWindow;
      this.inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      const script = this.inside.document.createElement("script");
      script.src = url;
      this.ready = new Promise((done, failed) => {
        script.onload = done;
        script.onerror = failed;
      });
      this.inside.document.body.append(script);
    }

    postMessage(data) {
      this.ready.then(() => {
        this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
