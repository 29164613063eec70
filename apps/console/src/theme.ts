import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

/** The green of the product's icon. */
const teal: MantineColorsTuple = [
  '#e8f5f3',
  '#d0e8e5',
  '#a3d1cb',
  '#77bab1',
  '#58b8ae',
  '#3c9990',
  '#2a7a73',
  '#1f5f5b',
  '#194e4b',
  '#123b38',
];

/** Greys of the dark colors, from texts to backgrounds, with a little of the same green. */
const dark: MantineColorsTuple = [
  '#c9d3d0',
  '#b4c1bd',
  '#8b9c98',
  '#6a7a76',
  '#3a4b46',
  '#2b3935',
  '#1f2a28',
  '#18211f',
  '#131b19',
  '#101615',
];

export const theme = createTheme({
  primaryColor: 'cadastre',
  primaryShade: { light: 7, dark: 6 },
  colors: { cadastre: teal, dark },
  autoContrast: true,
  luminanceThreshold: 0.33,
  defaultRadius: 'md',
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Liberation Sans', sans-serif",
  fontFamilyMonospace: "ui-monospace, 'SF Mono', 'Cascadia Mono', 'Liberation Mono', monospace",
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { styles: { label: { fontWeight: 500 } } },
    Badge: { defaultProps: { variant: 'light', tt: 'none', radius: 'sm' } },
    // A tooltip belongs to the landmark of its element, as menus do.
    Tooltip: { defaultProps: { withinPortal: false } },
    // The first item has the focus, instead of an element without a meaning.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    // The header of a dialog is no header of the page.
    Modal: { defaultProps: { attributes: { header: { role: 'none' } } } },
  },
});

const RED_BUTTONS = {
  '--mantine-color-red-filled': '#c02626',
  '--mantine-color-red-filled-hover': '#a82020',
};

/* Colors of surfaces and texts. Texts have a contrast of at least 4.5 to each surface. */

const LIGHT_COLORS = {
  '--mantine-color-body': '#ffffff',
  '--mantine-color-text': '#17211f',
  '--mantine-color-dimmed': '#53615e',
  '--mantine-color-placeholder': '#66736f',
  '--console-background': '#f4f6f6',
  '--console-surface': '#ffffff',
  '--console-inset': '#f1f4f3',
  '--console-hover': '#eef3f2',
  '--console-border': '#d7dfdd',
  '--console-accent': '#1f5f5b',
  '--console-warning': '#9a5b00',
  '--console-positive': '#1a5c28',
  '--console-removed': '#fde0de',
  '--console-added': '#d7f3dd',
  '--console-changed': '#fff6da',
  ...RED_BUTTONS,
  '--mantine-color-error': '#c02626',
  '--mantine-color-red-light-color': '#9c1c1c',
  '--mantine-color-orange-light-color': '#8a3a00',
  '--mantine-color-yellow-light-color': '#6b4a00',
  '--mantine-color-green-light-color': '#1a5c28',
  '--mantine-color-blue-light-color': '#14508f',
  '--mantine-color-gray-light-color': '#40484f',
};

const DARK_COLORS = {
  '--mantine-color-body': '#18211f',
  '--mantine-color-text': '#e7edeb',
  '--mantine-color-dimmed': '#9fb0ac',
  '--mantine-color-placeholder': '#8b9c98',
  '--mantine-color-default': '#1f2a28',
  '--mantine-color-default-hover': '#273532',
  '--mantine-color-default-border': '#3a4b46',
  '--console-background': '#101615',
  '--console-surface': '#18211f',
  '--console-inset': '#131b19',
  '--console-hover': '#22302d',
  '--console-border': '#314039',
  '--console-accent': '#77cbc2',
  '--console-warning': '#f0b455',
  '--console-positive': '#7fd493',
  '--console-removed': '#4d2422',
  '--console-added': '#1d4327',
  '--console-changed': '#3a3216',
  ...RED_BUTTONS,
  '--mantine-color-error': '#ff8f8f',
  '--mantine-color-red-light': '#3a2020',
  '--mantine-color-red-light-hover': '#482727',
  '--mantine-color-red-light-color': '#ffa3a3',
  '--mantine-color-orange-light': '#3a2a18',
  '--mantine-color-orange-light-color': '#f5b878',
  '--mantine-color-yellow-light': '#352d16',
  '--mantine-color-yellow-light-color': '#ecc667',
  '--mantine-color-green-light': '#1a3223',
  '--mantine-color-green-light-color': '#8fd9a0',
  '--mantine-color-blue-light': '#182c40',
  '--mantine-color-blue-light-color': '#93c5f5',
  '--mantine-color-gray-light': '#26302e',
  '--mantine-color-gray-light-color': '#c0ccc9',
  '--mantine-color-cadastre-light': '#1d3a37',
  '--mantine-color-cadastre-light-hover': '#234541',
};

export const resolveColors: CSSVariablesResolver = () => ({ variables: {}, light: LIGHT_COLORS, dark: DARK_COLORS });
