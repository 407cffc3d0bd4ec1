/** Accepting a proposal with edits, and accepting several at once. */

import { settle } from "./actions.js";
import { drafts, editKey, told, versionNow } from "./proposal_drafts.js";
import { allOf } from "./render_accept_all.js";
import { proposalGist } from "./render_proposal.js";

/** @typedef {import("./actions.js").Page} Page */

/** Make the forms of proposals work. @param {Page} page */
export function watchProposals(page) {
  document.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-act]"));
    const { act, id = "" } = button?.dataset ?? {};
    if (act === "edit-open") open(page, id);
    if (act === "edit-close") close(page, id);
    if (act === "all-open") unfold(page, `all-${id}`, true, `#all-${id}-form .btn--go`);
    if (act === "all-close") unfold(page, `all-${id}`, false, `[data-act="all-open"][data-id="${id}"]`);
  });
  document.addEventListener("submit", (event) => {
    const form = /** @type {HTMLFormElement} */ (event.target);
    const { form: name, id = "" } = form.dataset;
    if (name !== "accept-edited" && name !== "accept-all") return;
    event.preventDefault();
    if (form.ariaBusy === "true") return;
    form.ariaBusy = "true";
    const sent = name === "accept-all" ? acceptAll(page, id) : acceptEdited(page, id, new FormData(form));
    sent.finally(() => { form.ariaBusy = null; });
  });
}

/** @param {Page} page @param {string} id */
function open(page, id) {
  const one = page.store.get("proposal", id);
  if (!one || one.proposed_text === null) return;
  drafts.set(id, { title: one.proposed_title, text: one.proposed_text, version: versionNow(one), newest: null, sent: false });
  unfold(page, editKey(id), true, `#pt-${id}`);
}

/** @param {Page} page @param {string} id */
function close(page, id) {
  drafts.delete(id);
  page.store.refuse(id, "");
  unfold(page, editKey(id), false, `#p-${id} [data-act="edit-open"]`);
}

/** @param {Page} page @param {string} key @param {boolean} on @param {string} focus */
function unfold(page, key, on, focus) {
  page.store.unfold(key, on);
  page.draw();
  /** @type {HTMLElement | null} */ (document.querySelector(focus))?.focus();
}

/** @param {Page} page @param {string} id @param {FormData} written */
async function acceptEdited(page, id, written) {
  const draft = drafts.get(id);
  if (!draft) return;
  const [text, title] = [written.get("text")?.toString() ?? "", written.get("title")?.toString() ?? ""];
  const renamed = title !== draft.title ? { title } : {};
  draft.sent = true;
  const answer = await settle(page, id, "proposal_accept", { proposal: id, text, base_version: draft.version, ...renamed });
  draft.sent = false;
  if (answer?.ok) {
    drafts.delete(id);
    page.store.unfold(editKey(id), false);
  } else if (answer?.code === "edits_stale") {
    showNewest(page, id);
  }
}

/** Show what it would become by now beside what was written; sending again is over that. @param {Page} page @param {string} id */
function showNewest(page, id) {
  const [one, draft] = [page.store.get("proposal", id), drafts.get(id)];
  if (!one || !draft) return;
  drafts.set(id, { ...draft, version: versionNow(one), newest: one.proposed_text ?? "" });
  page.draw();
}

/** @param {Page} page @param {string} key */
async function acceptAll(page, key) {
  const ones = allOf(page.store, key);
  told.delete(key);
  const answer = await page.connection.command("proposals_accept", { proposals: ones.map((one) => one.id) });
  const words = answer.ok ? tell(page, answer.data.results) : `None was accepted: ${answer.because}`;
  told.set(key, { words, seq: page.store.headSeq });
  page.store.unfold(`all-${key}`, false);
  page.draw();
  document.getElementById(`all-${key}-told`)?.focus();
}

/** @param {Page} page @param {{proposal: string, ok: boolean, because: string}[]} results */
function tell(page, results) {
  const refused = results.filter((result) => !result.ok);
  const done = `${results.length - refused.length} of ${results.length} were accepted.`;
  const reasons = refused.map(({ proposal: id, because }) => {
    const one = page.store.get("proposal", id);
    return `Not accepted: ${one ? proposalGist(one) : "one of them"}. ${because}`;
  });
  return [done, ...reasons].join(" ");
}
