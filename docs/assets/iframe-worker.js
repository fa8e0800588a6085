// A browser starts no worker from a file. Where the site is read without a server, a frame does the same work: search.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.waiting = [];
      const frame = document.createElement("iframe");
      frame.hidden = true;
      // The script runs in a window of its own, in which it posts to us.
      frame.srcdoc = `<script>
        globalThis.postMessage = (data) => frameElement.dispatchEvent(new MessageEvent("told", { data }));
      </script><script src="${new URL(script, location.href)}"></script>`;
      frame.addEventListener("told", (event) => this.tell(event.data));
      frame.addEventListener("load", () => {
        this.frame = frame;
        this.waiting.splice(0).forEach((data) => this.postMessage(data));
      });
      document.body.append(frame);
    }

    tell(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      this.onmessage?.(event);
    }

    postMessage(data) {
      if (this.frame) this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      else this.waiting.push(data);
    }

    terminate() {
      this.frame?.remove();
    }
  };
}
