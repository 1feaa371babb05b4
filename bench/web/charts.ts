// The peer: the article's component, one Chart.js chart per panel with defaults: time scale, tooltips in index mode,
// durations as lines on the left axis, the file count as a stepped line on the right one.
import Chart from 'chart.js/auto';
import 'chartjs-adapter-date-fns';
import { NOW, series } from './data.ts';

function draw(panels: number, each: number, points: number, step: number, animated: boolean): number {
  const from = NOW - points * step * 1000;
  const canvases = Array.from({ length: panels }, () => {
    const frame = document.createElement('div');
    frame.style.height = '240px';
    document.body.append(frame);
    return frame.appendChild(document.createElement('canvas'));
  });
  const start = performance.now();
  for (const [panel, canvas] of canvases.entries())
    new Chart(canvas, {
      type: 'line',
      data: {
        datasets: Array.from({ length: each }, (_, i) => ({
          label: `series ${panel * each + i + 1}`,
          yAxisID: i === each - 1 ? 'y1' : 'y',
          stepped: i === each - 1,
          data: series(panel * each + i, points).map((y, at) => ({ x: from + at * step * 1000, y })),
        })),
      },
      options: {
        maintainAspectRatio: false,
        interaction: { mode: 'index', intersect: false },
        scales: { x: { type: 'time' }, y: { position: 'left' }, y1: { position: 'right' } },
        ...(!animated && { animation: false }),
      },
    });
  return performance.now() - start;
}

Object.assign(globalThis, { draw, canvases: () => document.querySelectorAll('canvas').length });
