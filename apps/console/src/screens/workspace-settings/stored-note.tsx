import { Text } from '@mantine/core';
import type { ReactNode } from 'react';

/** Above settings that the server stores for clients, and that have no effect. */
export const StoredNote = ({ children }: { readonly children: ReactNode }) => (
  <Text size="sm" c="dimmed">
    {children} It stores what you enter for clients such as the tfe provider.
  </Text>
);
