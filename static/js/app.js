// What every page has: the theme, times in the reader's zone, menus that close, acts that ask.

import { all, find } from "./dom.js";
import { moment } from "./format.js";

const KEY = "throttle-lab-theme";

function setTheme(choice) {
  if (choice === "auto") {
    delete document.documentElement.dataset.theme;
    localStorage.removeItem(KEY);
  } else {
    document.documentElement.dataset.theme = choice;
    localStorage.setItem(KEY, choice);
  }
  showTheme();
  document.dispatchEvent(new Event("themechange"));
}

function showTheme() {
  const now = document.documentElement.dataset.theme ?? "auto";
  for (const button of all("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === now));
  }
}

/** Times are written in UTC by the server and in the reader's zone from here on. */
function localTimes(root = document) {
  for (const time of all("time[datetime]", root)) {
    const at = Date.parse(time.dateTime);
    if (Number.isNaN(at)) continue;
    time.textContent = moment(at);
    time.title = new Date(at).toString();
  }
}

/** Widths that depend on data: <i data-share="0.4"> becomes 40% wide. */
function widths(root = document) {
  for (const bar of all("[data-share]", root)) bar.style.width = `${Number(bar.dataset.share) * 100}%`;
}

// A form with data-confirm asks in a dialog before it is sent.
function ask(event) {
  const form = event.target;
  if (!form.dataset?.confirm || form.dataset.sure) return;
  const dialog = document.getElementById(form.dataset.confirm);
  if (!dialog) return;
  event.preventDefault();
  dialog.addEventListener(
    "close",
    () => {
      if (dialog.returnValue !== "yes") return;
      form.dataset.sure = "1";
      form.requestSubmit();
    },
    { once: true },
  );
  dialog.returnValue = "";
  dialog.showModal();
}

// A form is sent once: a second click does not launch a second run.
function once(event) {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "1";
  for (const button of all("button[type=submit]", form)) button.setAttribute("aria-disabled", "true");
  return undefined;
}

document.addEventListener("submit", ask);
document.addEventListener("submit", once);
addEventListener("pageshow", () => {
  for (const form of all("form[data-sent]")) {
    delete form.dataset.sent;
    delete form.dataset.sure;
    for (const button of all("button[type=submit]", form)) button.removeAttribute("aria-disabled");
  }
});
document.addEventListener("click", (event) => {
  const choice = event.target.closest("[data-theme-choice]");
  if (choice) setTheme(choice.dataset.themeChoice);
  for (const menu of all("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && find("details.menu[open]");
  if (!menu) return;
  menu.open = false;
  find("summary", menu).focus();
});
document.addEventListener("htmx:afterSettle", () => {
  localTimes();
  widths();
});
showTheme();
localTimes();
widths();
