/** The thread's settings: sends what was changed, one command each, and says what was refused. */

/**
 * @param {HTMLDialogElement | null} dialog @param {import("./store.js").Store} store
 * @param {import("./socket.js").Connection} connection
 */
export function watchSettings(dialog, store, connection) {
  const form = dialog?.querySelector("form");
  if (!dialog || !form) return;
  const button = /** @type {HTMLElement} */ (document.querySelector("[data-dialog='settings']"));
  const alert = /** @type {HTMLElement} */ (form.querySelector("[role='alert']"));
  const archive = /** @type {HTMLElement} */ (form.querySelector("[data-archive]"));

  const offer = () => {
    button.hidden = !store.may("manage").ok || !store.thread;
    archive.textContent = store.thread?.archived ? "Bring it back" : archive.dataset.sure ? "Archive for everyone" : "Archive…";
  };
  const fill = () => {
    const { title, mode, answers } = store.thread ?? {};
    for (const [name, value] of Object.entries({ title, mode, answers })) {
      const field = form.elements.namedItem(name);
      if (field instanceof HTMLInputElement || field instanceof RadioNodeList) field.value = String(value ?? "");
    }
    for (const [name, value] of Object.entries({ level: "", until: inAnHour(), reason: "" })) {
      const field = form.elements.namedItem(name);
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
    }
    alert.hidden = true;
    delete archive.dataset.sure;
    offer();
  };
  const send = async (/** @type {[string, Record<string, unknown>][]} */ commands) => {
    if (form.ariaBusy === "true") return;
    form.ariaBusy = "true";
    const because = await refusedOf(connection, commands);
    form.ariaBusy = null;
    if (!because) return dialog.close();
    alert.hidden = false;
    alert.textContent = because;
  };

  button.addEventListener("click", fill);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(changes(store, new FormData(form)));
  });
  archive.addEventListener("click", () => {
    if (!store.thread?.archived && !archive.dataset.sure) archive.dataset.sure = "yes";
    else send([["thread_archive", { archived: !store.thread?.archived }]]);
    offer();
  });
  store.subscribe(offer);
  offer();
}

/**
 * Carry out commands in their order, up to the first that is refused.
 * @param {import("./socket.js").Connection} connection @param {[string, Record<string, unknown>][]} commands
 * @returns {Promise<string>} why it was refused; empty where all were carried out
 */
async function refusedOf(connection, commands) {
  for (const [name, args] of commands) {
    const answer = await connection.command(name, args);
    if (!answer.ok) return answer.because;
  }
  return "";
}

/**
 * @param {import("./store.js").Store} store @param {FormData} data
 * @returns {[string, Record<string, unknown>][]}
 */
function changes(store, data) {
  const [title, mode, answers, level, until, reason] = ["title", "mode", "answers", "level", "until", "reason"].map((name) => data.get(name)?.toString() ?? "");
  /** @type {[boolean, [string, Record<string, unknown>]][]} */
  const all = [
    [title.trim() !== store.thread?.title, ["thread_rename", { title }]],
    [Boolean(mode) && mode !== store.thread?.mode, ["thread_mode_set", { mode }]],
    [Boolean(answers) && answers !== store.thread?.answers, ["thread_answers_set", { answers }]],
    [Boolean(level), ["delegation_give", { level, until: moment(until), reason }]],
  ];
  return all.filter(([changed]) => changed).map(([, command]) => command);
}

/** The time of day an hour from now, as a field for moments holds it: in the reader's own time zone. */
function inAnHour() {
  const at = new Date(Date.now() + 3_600_000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** What a field for moments holds, with its time zone; empty for none. @param {string} local */
function moment(local) {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
}
