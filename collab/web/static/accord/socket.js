/**
 * The connection to a thread: says where it is, takes events in order, acknowledges them, sends commands until they are
 * answered. The log decides: after any break it resumes by seq, and a command keeps its id, so it is carried out once.
 */

import { heard } from "./server_clock.js";
import { LOST_AFTER_MS, MAY_NOT_SEE, PING_AFTER_MS, PROTOCOL, SIGNED_OUT, waitMs } from "./sockets.js";

/** @typedef {"connecting" | "open" | "offline" | "back" | "closed"} State */
/** @typedef {{ok: true, data: any} | {ok: false, code: string, because: string}} Answer */

const AT_MOST = 200;
const ACK_EVERY = 20;
const ACK_AFTER_MS = 2000;

/** @type {Answer} */
const CLOSED = { ok: false, code: "not_found", because: "You can no longer see this thread." };

export class Connection extends EventTarget {
  /** @param {string} url @param {import("./store.js").Store} store */
  constructor(url, store) {
    super();
    this.url = url;
    this.store = store;
    /** @type {Map<string, {frame: any, settle: (answer: Answer) => void}>} */
    this.asked = new Map();
    /** @type {State} */
    this.state = "connecting";
    this.attempts = 0;
    this.missed = 0;
    this.frames = this.acknowledged = 0;
    this.heard = 0;
    this.retryAt = 0;
    window.addEventListener("online", () => this.retry());
    window.addEventListener("offline", () => this.cut());
    setInterval(() => this.tick(), 1000);
  }

  open() {
    clearTimeout(this.timer);
    this.socket?.close();
    const socket = new WebSocket(this.url, PROTOCOL);
    this.socket = socket;
    this.caughtUp = false;
    this.frames = this.acknowledged = 0;
    socket.onopen = () => {
      if (socket !== this.socket) return;
      this.heard = this.pinged = Date.now();
      this.send({ type: "hello", after_seq: this.store.headSeq, at_most: AT_MOST });
    };
    socket.onmessage = (message) => {
      if (socket === this.socket) this.take(JSON.parse(message.data));
    };
    socket.onclose = (event) => {
      if (socket === this.socket) this.lost(event.code);
    };
  }

  /** Try again at once. */
  retry() {
    if (this.state === "offline") this.open();
  }

  /** Take the connection as lost at once: where the network is gone, nobody answers that it is closed. */
  cut() {
    const { socket } = this;
    if (!socket || socket.readyState === WebSocket.CLOSED) return;
    this.socket = undefined;
    socket.close();
    this.lost();
  }

  /**
   * Carry out a command on the server, once.
   * @param {string} name @param {Record<string, unknown>} args
   * @param {string} [id] an id given before, to send the same command again
   * @returns {Promise<Answer>}
   */
  command(name, args, id = crypto.randomUUID()) {
    if (this.state === "closed") return Promise.resolve(CLOSED);
    return new Promise((settle) => {
      const frame = { type: "command", id, name, args };
      this.asked.set(id, { frame, settle });
      if (this.caughtUp) this.send(frame);
    });
  }

  /** @param {any} frame */
  take(frame) {
    this.heard = Date.now();
    this.frames += 1;
    this.acknowledgeSoon();
    switch (frame.type) {
      case "welcome": return this.welcome(frame);
      case "skipped": return this.store.skip(frame.upto_seq);
      case "event": return this.event(frame);
      case "caught_up": return this.ready(frame);
      case "live": return this.store.stream(frame);
      case "editing": return this.tell("editing", frame);
      case "presence": return this.store.set({ here: frame.here });
      case "rights": return this.store.set({ viewer: frame.viewer });
      case "standing": return this.store.put(frame.items);
      case "document_changed":
        this.store.put(frame.items);
        return this.tell("document", frame);
      case "result": return this.settle(frame.id, { ok: true, data: frame.data });
      case "refused": return this.refused(frame);
      case "busy": return this.later(frame);
    }
  }

  /** @param {any} frame */
  welcome(frame) {
    if (frame.head_seq < this.store.headSeq) return location.reload();
    heard(frame.at);
    this.missed = this.state === "offline" ? frame.head_seq - this.store.headSeq : 0;
    this.store.set({ viewer: frame.viewer });
    this.store.put([frame.thread]);
  }

  /** @param {any} frame */
  event(frame) {
    if (this.store.event(frame)) this.tell("event", frame);
    else this.cut();
  }

  /** What is not acknowledged is what the server keeps for this socket. */
  acknowledgeSoon() {
    if (this.frames - this.acknowledged >= ACK_EVERY) this.acknowledge();
    else this.ackTimer ??= setTimeout(() => this.acknowledge(), ACK_AFTER_MS);
  }

  acknowledge() {
    clearTimeout(this.ackTimer);
    this.ackTimer = undefined;
    this.acknowledged = this.frames;
    this.send({ type: "ack", seq: this.store.headSeq, frames: this.frames });
  }

  /** @param {{items: import("./store.js").Item[]}} frame */
  ready(frame) {
    this.store.put(frame.items);
    this.store.shown();
    this.caughtUp = true;
    this.attempts = 0;
    this.become(this.state === "offline" ? "back" : "open");
    for (const { frame } of this.asked.values()) this.send(frame);
  }

  /** @param {any} frame */
  refused(frame) {
    if (frame.id) this.settle(frame.id, { ok: false, code: frame.code, because: frame.because });
    else if (frame.code === "bad_cursor") location.reload();
  }

  /** @param {{id: string, retry_after: number}} frame */
  later(frame) {
    setTimeout(() => {
      const asked = this.asked.get(frame.id);
      if (asked && this.caughtUp) this.send(asked.frame);
    }, frame.retry_after * 1000 * (1 + Math.random()));
  }

  /** @param {string} id @param {Answer} answer */
  settle(id, answer) {
    this.asked.get(id)?.settle(answer);
    this.asked.delete(id);
  }

  /** @param {number} [code] why the server closed the socket */
  lost(code = 0) {
    this.caughtUp = false;
    clearTimeout(this.timer);
    clearTimeout(this.ackTimer);
    this.ackTimer = undefined;
    if (code === SIGNED_OUT) return location.reload();
    if (code === MAY_NOT_SEE) return this.shut();
    const wait = waitMs(this.attempts, code);
    this.attempts += 1;
    this.retryAt = Date.now() + wait;
    this.timer = setTimeout(() => this.open(), wait);
    this.become("offline");
  }

  shut() {
    this.store.clear();
    this.become("closed");
    for (const id of [...this.asked.keys()]) this.settle(id, CLOSED);
  }

  tick() {
    if (this.state === "offline") this.tell("state", null);
    if (this.socket?.readyState !== WebSocket.OPEN) return;
    const now = Date.now();
    if (now - this.heard > LOST_AFTER_MS) {
      this.cut();
    } else if (now - Math.max(this.heard, this.pinged ?? 0) > PING_AFTER_MS) {
      this.pinged = now;
      this.send({ type: "ping" });
    }
  }

  /** @param {State} state */
  become(state) {
    this.state = state;
    this.tell("state", null);
  }

  /** @param {object} frame */
  send(frame) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(frame));
  }

  /** @param {string} type @param {any} detail */
  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
