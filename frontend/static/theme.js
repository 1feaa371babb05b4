// Classic script in <head>: the stored theme is set before the first paint, under a CSP that forbids inline scripts.
(function () {
  try {
    const theme = localStorage.getItem('limnograph.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // storage is switched off: the system's theme holds
  }
})();
