import { TextInput } from '@mantine/core';
import type { ComponentProps } from 'react';

/** A whole number of days, unless `step` says otherwise. */
export const DaysField = (props: ComponentProps<typeof TextInput>) => (
  <TextInput min={1} step={1} {...props} type="number" rightSection="days" rightSectionWidth={60} maw="20rem" />
);
