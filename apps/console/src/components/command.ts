import type { ComponentType } from 'react';
import type { IconProps } from './icons.js';

/** An entry of the palette. Commands with the same group stand together. */
export type Command = {
  readonly group: string;
  readonly label: string;
  readonly icon: ComponentType<IconProps>;
  /** The text that the person searches, if it is not the complete label. */
  readonly searched?: string;
  readonly run: () => void;
};
