/** The reader's place in the log: follow the end only when they are there; say how far they have read. */

const NEAR = 80;
const MARK_AFTER_MS = 700;
const UNTOLD_MS = 1000;

export class Place {
  /** @param {HTMLElement} log @param {import("./store.js").Store} store @param {import("./socket.js").Connection} connection */
  constructor(log, store, connection) {
    this.log = log;
    this.store = store;
    this.connection = connection;
    this.marked = store.readSeq;
    this.atEnd = true;
    log.addEventListener("scroll", () => this.look(), { passive: true });
    document.addEventListener("visibilitychange", () => this.look());
    new ResizeObserver(() => this.follow()).observe(log);
  }

  look() {
    // Behind the document, on small screens, nothing of it is seen.
    if (!this.log.clientHeight) return;
    this.atEnd = this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < NEAR;
    document.body.toggleAttribute("data-behind", !this.atEnd);
    if (this.atEnd && document.visibilityState === "visible") this.seen();
  }

  /** Keep the end in sight after a change, if it was. */
  follow() {
    if (this.atEnd) this.log.scrollTop = this.log.scrollHeight;
    this.look();
  }

  latest() {
    this.atEnd = true;
    this.follow();
  }

  /** Draw with the reader's place kept, where older blocks come in above. @param {() => void} draw */
  hold(draw) {
    const fromEnd = this.log.scrollHeight - this.log.scrollTop;
    this.untold(draw);
    this.log.scrollTop = this.log.scrollHeight - fromEnd;
  }

  /** Draw what is no news: a screen reader does not read it out as it comes into the log. @param {() => void} draw */
  untold(draw) {
    this.log.ariaLive = "off";
    draw();
    clearTimeout(this.telling);
    this.telling = setTimeout(() => { this.log.ariaLive = null; }, UNTOLD_MS);
  }

  seen() {
    if (this.store.readSeq < this.store.headSeq) this.store.set({ readSeq: this.store.headSeq });
    this.timer ??= setTimeout(() => this.mark(), MARK_AFTER_MS);
  }

  mark() {
    this.timer = undefined;
    if (this.marked >= this.store.readSeq || !this.connection.caughtUp) return;
    this.marked = this.store.readSeq;
    this.connection.command("read_mark_set", { seq: this.marked });
  }
}
