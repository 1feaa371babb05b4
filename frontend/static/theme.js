// Classic script in <head>: what the reader chose is set before the first paint, under a CSP that forbids inline scripts.
(function () {
  try {
    const theme = localStorage.getItem('limnograph.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
    const { density, patterns } = JSON.parse(localStorage.getItem('limnograph.preferences') || '{}');
    if (density === 'compact') document.documentElement.dataset.density = density;
    if (patterns === true) document.documentElement.dataset.patterns = 'on';
  } catch {
    // storage is switched off or unreadable: all is as usual
  }
})();
