/** What the viewer writes when they accept a proposal with edits, and what came of accepting several: of this page only. */

/** @typedef {{title: string, text: string, version: number | null, newest: string | null, sent: boolean}} Draft */

/** By the proposal. `version` is the document's that the text was written on; `sent` while it waits for its answer. @type {Map<string, Draft>} */
export const drafts = new Map();

/** What accepting several came to and the seq of the log at which it did, by the place of the button. @type {Map<string, {words: string, seq: number}>} */
export const told = new Map();

/** The key under which a proposal's edit form is unfolded. @param {string} id */
export const editKey = (id) => `edit-${id}`;

/** The version of the document that a proposal's text is of now. @param {import("./store.js").Item} one @returns {number | null} */
export const versionNow = (one) => one.moved?.version ?? one.base_version;
