/**
 * The order of the log, as blocks: an exchange is the messages a turn took and the turn, under one person's rail.
 * Waiting and held messages are not here (they are in the strip), and neither are cancelled ones. Pure.
 */

import { bySeq } from "./store.js";
import { sameAuthor } from "./words.js";

/**
 * @typedef {import("./store.js").Item} Item
 * @typedef {{turn: Item, took: Item[]}} Part
 * @typedef {{type: "exchange", key: string, seq: number, at: string, for: any, parts: Part[]}} Exchange
 * @typedef {{type: "message" | "proposal" | "action", key: string, seq: number, at: string, entity: Item}} Single
 * @typedef {Exchange | Single} Block
 */

/**
 * Lay the log out.
 * @param {import("./store.js").Store} store
 * @returns {Block[]}
 */
export function layout(store) {
  const blocks = [...turnBlocks(store), ...singles(store)].sort((a, b) => a.seq - b.seq);
  return joined(blocks);
}

/** @param {import("./store.js").Store} store @returns {Exchange[]} */
function turnBlocks(store) {
  const took = Map.groupBy(store.all("message").filter((m) => m.taken_by), (m) => m.taken_by);
  return store.all("turn").map((turn) => ({
    type: "exchange", key: `x-${turn.id}`, seq: turn.seq, at: turn.started_at, for: turn.for,
    parts: [{ turn, took: (took.get(turn.id) ?? []).sort(bySeq) }],
  }));
}

/** @param {import("./store.js").Store} store @returns {Single[]} */
function singles(store) {
  const messages = store.all("message").filter((message) => standsAlone(store, message));
  const proposals = store.all("proposal").filter((proposal) => !store.get("turn", proposal.turn));
  const actions = store.all("action").filter((action) => !store.get("turn", action.turn));
  return [
    ...messages.map((entity) => ({ type: /** @type {const} */ ("message"), key: `b-${entity.id}`, seq: entity.seq, at: entity.at, entity })),
    ...proposals.map((entity) => ({ type: /** @type {const} */ ("proposal"), key: `b-${entity.id}`, seq: entity.seq, at: entity.at, entity })),
    ...actions.map((entity) => ({ type: /** @type {const} */ ("action"), key: `b-${entity.id}`, seq: entity.seq, at: entity.asked_at, entity })),
  ];
}

/** @param {import("./store.js").Store} store @param {Item} message */
function standsAlone(store, message) {
  if (["waits", "held", "cancelled"].includes(message.state)) return false;
  return !store.get("turn", message.taken_by) && !store.get("turn", message.turn);
}

/**
 * A turn that goes on with the one right above, for the same author, shares its rail.
 * @param {Block[]} blocks @returns {Block[]}
 */
function joined(blocks) {
  /** @type {Block[]} */
  const out = [];
  for (const block of blocks) {
    const above = out[out.length - 1];
    if (above?.type === "exchange" && block.type === "exchange" && goesOn(above, block)) above.parts.push(...block.parts);
    else out.push(block);
  }
  return out;
}

/** @param {Exchange} above @param {Exchange} block */
function goesOn(above, block) {
  const [{ turn }] = block.parts;
  const last = above.parts[above.parts.length - 1].turn;
  return [turn.resumes, turn.continues].includes(last.id) && sameAuthor(above.for, block.for);
}
