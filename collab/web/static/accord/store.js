/**
 * What the page knows: the thread's entities by (item, id), as the server's frames give them. A frame carries the whole
 * current view of what it touches, so applying it is replacing; the page that was loaded a moment ago and the one that
 * has been open all day hold the same. Everything drawn is drawn from here.
 */

/**
 * @typedef {{kind: string, id: string | null, name: string, hue: number, for: Actor | null, verified?: string}} Actor
 * @typedef {{ok: boolean, because: string}} May
 * @typedef {{id: string, name: string, hue: number, role: string | null, may: Record<string, May>}} Viewer
 * @typedef {{id: string, name: string, hue: number, role?: string}} Person
 * @typedef {Record<string, any> & {item: string, id: string}} Item
 * @typedef {{text: string, html: string[]}} Live
 * @typedef {{viewer: Viewer, thread: Item, people: Person[], items: Item[], head_seq: number, first_seq: number,
 *            read_seq: number, workspace: {id: string, name: string}}} PageData
 */

const UNSEEN_MS = 100;

export class Store {
  /** @param {PageData} data */
  constructor(data) {
    this.viewer = data.viewer;
    this.people = data.people;
    this.workspace = data.workspace;
    this.firstSeq = data.first_seq;
    this.headSeq = data.head_seq;
    this.readSeq = data.read_seq;
    this.threadId = data.thread.id;
    /** @type {Person[]} */
    this.here = [];
    /** @type {Map<string, Item>} */
    this.items = new Map();
    /** @type {Map<string, Item[]>} */
    this.lists = new Map();
    /** @type {Map<string, Live>} */
    this.live = new Map();
    /** @type {Set<string>} what the viewer has unfolded */
    this.unfolded = new Set();
    /** @type {Map<string, string>} why an act of the viewer was refused, by the entity it was tried on */
    this.refusals = new Map();
    /** @type {Set<() => void>} */
    this.listeners = new Set();
    this.due = this.paused = false;
    this.put([data.thread, ...data.items]);
  }

  /** Call `listener` once after each burst of changes. @param {() => void} listener */
  subscribe(listener) {
    this.listeners.add(listener);
  }

  /** Tell the listeners before the next frame is drawn; a page that is not looked at draws none, so soon anyway. */
  changed() {
    if (this.due || this.paused) return;
    this.due = true;
    const tell = () => {
      if (!this.due) return;
      this.due = false;
      this.listeners.forEach((listener) => listener());
    };
    requestAnimationFrame(tell);
    setTimeout(tell, UNSEEN_MS);
  }

  /** Take the current view of entities. @param {Item[]} items */
  put(items) {
    this.lists.clear();
    for (const item of items) {
      this.items.set(`${item.item}:${item.id}`, item.item === "call" ? this.whole(item) : item);
      if (item.item === "turn" && item.status !== "running") this.live.delete(item.id);
    }
    this.changed();
  }

  /**
   * A call with what this viewer was told of it before: a view that was made for everyone leaves out its arguments.
   * @param {Item} call @returns {Item}
   */
  whole(call) {
    const { args, result, brief } = this.get("call", call.id) ?? {};
    return call.args === null && args ? { ...call, args, result, brief } : call;
  }

  /**
   * Take an event frame; one that was already taken changes nothing.
   * @param {{seq: number, items: Item[]}} frame
   * @returns {boolean} whether it was the next one
   */
  event(frame) {
    if (frame.seq <= this.headSeq) return true;
    if (frame.seq !== this.headSeq + 1) return false;
    this.headSeq = frame.seq;
    this.put(frame.items);
    return true;
  }

  /**
   * Start over behind a gap: what is known of before it may be old. Nothing is drawn until `shown`.
   * @param {number} seq the last seq that was left out
   */
  skip(seq) {
    const thread = this.thread;
    this.items.clear();
    this.live.clear();
    this.headSeq = seq;
    this.firstSeq = seq + 1;
    this.paused = true;
    this.put(thread ? [thread] : []);
  }

  /** Draw again, after `skip`. */
  shown() {
    this.paused = false;
    this.changed();
  }

  /**
   * Take older entities, without touching newer views of the same ones.
   * @param {{items: Item[], first_seq: number}} page
   */
  older(page) {
    this.firstSeq = page.first_seq;
    this.put(page.items.filter((item) => !this.items.has(`${item.item}:${item.id}`)));
  }

  /**
   * Take a live frame: text streamed by a running turn. A frame that would leave a hole is dropped; a snapshot follows.
   * @param {{turn: string, offset: number, text: string, block: number, html: string[]}} frame
   */
  stream(frame) {
    const turn = this.get("turn", frame.turn);
    const known = this.live.get(frame.turn) ?? { text: "", html: [] };
    if (turn && turn.status !== "running") return;
    const letters = Array.from(known.text);
    if (letters.length < frame.offset || known.html.length < frame.block) return;
    this.live.set(frame.turn, {
      text: letters.slice(0, frame.offset).join("") + frame.text,
      html: [...known.html.slice(0, frame.block), ...frame.html],
    });
    this.changed();
  }

  /** Take a change of who is here, or of the viewer's rights. @param {Partial<{here: Person[], viewer: Viewer, readSeq: number}>} change */
  set(change) {
    Object.assign(this, change);
    this.changed();
  }

  /** Unfold or fold a part of an entity. @param {string} id @param {boolean} open */
  unfold(id, open) {
    if (open) this.unfolded.add(id);
    else this.unfolded.delete(id);
    this.changed();
  }

  /** Say why an act on an entity was refused, or that none is. @param {string} id @param {string} because */
  refuse(id, because) {
    if (because) this.refusals.set(id, because);
    else this.refusals.delete(id);
    this.changed();
  }

  /** Forget everything: the viewer may no longer see it. */
  clear() {
    this.paused = false;
    this.items.clear();
    this.lists.clear();
    this.live.clear();
    this.here = this.people = [];
    this.changed();
  }

  /** @param {string} item @param {string | null} id @returns {Item | undefined} */
  get(item, id) {
    return id ? this.items.get(`${item}:${id}`) : undefined;
  }

  /** All of one kind, oldest first. @param {string} item @returns {Item[]} */
  all(item) {
    let list = this.lists.get(item);
    if (!list) this.lists.set(item, list = [...this.items.values()].filter((one) => one.item === item).sort(bySeq));
    return list;
  }

  get thread() {
    return this.get("thread", this.threadId);
  }

  /** The people of the workspace: those the page was loaded with, and who came here since. */
  get everyone() {
    const known = new Set(this.people.map((person) => person.id));
    return [...this.people, ...this.here.filter((person) => !known.has(person.id))];
  }

  /** What the thread's agent is called, at the beginning of a sentence. */
  get agentName() {
    return this.thread?.agent?.name ?? "The agent";
  }

  /** The turn that is running or waits for an answer, if there is one. @returns {Item | undefined} */
  get current() {
    const turns = this.all("turn").toReversed();
    const resumed = new Set(turns.map((turn) => turn.resumes));
    return turns.find((turn) => turn.status === "running")
      ?? turns.find((turn) => turn.status === "paused" && !resumed.has(turn.id));
  }

  /** Messages no turn has taken yet, in order. */
  get waiting() {
    return this.all("message").filter((message) => message.state === "waits");
  }

  /** Messages whose author is asked what they mean, in order. */
  get held() {
    return this.all("message").filter((message) => message.state === "held");
  }

  /** Whether the viewer may, with the server's sentence. @param {string} action @returns {May} */
  may(action) {
    return this.viewer.may[action] ?? { ok: false, because: "" };
  }

  /** How many messages of others the viewer has not seen. */
  get unread() {
    return this.all("message").filter(
      (message) => message.seq > this.readSeq && message.state !== "cancelled" && message.author.id !== this.viewer.id,
    ).length;
  }
}

/** @param {Item} a @param {Item} b */
export const bySeq = (a, b) => (a.seq ?? 0) - (b.seq ?? 0) || (a.number ?? 0) - (b.number ?? 0);
