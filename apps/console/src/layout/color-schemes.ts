import type { MantineColorScheme } from '@mantine/core';
import type { ComponentType } from 'react';
import { AutoIcon, MoonIcon, SunIcon, type IconProps } from '../components/icons.js';

type ColorSchemeOption = {
  readonly value: MantineColorScheme;
  readonly label: string;
  readonly icon: ComponentType<IconProps>;
};

export const COLOR_SCHEMES: readonly ColorSchemeOption[] = [
  { value: 'light', label: 'Light', icon: SunIcon },
  { value: 'dark', label: 'Dark', icon: MoonIcon },
  { value: 'auto', label: 'As the system', icon: AutoIcon },
];
