// Classic and blocking on purpose: the chosen theme is set before the first paint.
(function () {
  try {
    var theme = localStorage.getItem("throttle-lab-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch (error) {
    // Storage may be closed to us (private windows): the system's preference holds.
  }
})();
