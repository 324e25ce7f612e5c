// Colours of the editor's theme, which may change at any time.
import type { StylesheetJson } from 'cytoscape';
import type { Palette } from './dots';

export function palette(): Palette {
  const of = colours();
  return {
    passed: of('testing-iconPassed', '#388a34'),
    failed: of('testing-iconFailed', '#c72e0f'),
    skipped: of('testing-iconSkipped', '#848484'),
    stopped: of('testing-iconSkipped', '#848484'),
    in_progress: of('charts-blue', '#3794ff'),
  };
}

/** Makes the style of boxes, nodes and edges; contrast themes have their own colour for lines. */
export function graphStyle(): StylesheetJson {
  const of = colours();
  const text = of('foreground', '#888888');
  const ground = of('editor-background', '#ffffff');
  const isContrast = document.body.className.includes('vscode-high-contrast');
  const line = isContrast ? of('contrastBorder', text) : text;
  const focus = isContrast ? of('contrastActiveBorder', text) : of('focusBorder', text);
  return [
    {
      selector: 'node',
      style: {
        width: 20,
        height: 20,
        'background-color': ground,
        'border-width': 1.5,
        'border-color': text,
        'z-index': 2,
      },
    },
    {
      selector: 'node.box',
      style: {
        shape: 'round-rectangle',
        width: 'data(width)',
        height: 'data(height)',
        'background-color': of('sideBar-background', ground),
        'background-opacity': isContrast ? 0 : 0.6,
        'border-width': 1.5,
        'border-color': line,
        'border-opacity': isContrast ? 1 : 0.4,
        'z-index-compare': 'manual',
        'z-index': 0,
      },
    },
    {
      selector: 'edge',
      style: {
        width: 'data(width)',
        opacity: isContrast ? 0.9 : 0.35,
        'line-color': line,
        'curve-style': 'straight',
        'target-arrow-shape': 'triangle',
        'target-arrow-color': line,
        'arrow-scale': 0.7,
        'z-index-compare': 'manual',
        'z-index': 1,
      },
    },
    { selector: '.dim', style: { opacity: 0.12 } },
    {
      selector: 'edge.near, edge.chain',
      style: { width: 3, opacity: 1, 'line-color': focus, 'target-arrow-color': focus, 'z-index': 3 },
    },
    { selector: 'node.chain', style: { 'border-width': 4, 'border-color': focus } },
    { selector: 'node.chosen', style: { 'border-width': 5, 'border-color': focus, 'z-index': 9 } },
    { selector: 'node.box.chosen', style: { 'border-width': 3, 'z-index': 0 } },
  ];
}

function colours(): (variable: string, otherwise: string) => string {
  const theme = getComputedStyle(document.body);
  return (variable, otherwise) => theme.getPropertyValue(`--vscode-${variable}`).trim() || otherwise;
}
