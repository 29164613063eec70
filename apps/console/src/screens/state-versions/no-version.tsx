import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { CodeBlock } from '../../components/copy.js';
import { ResourceIcon } from '../../components/icons.js';
import { EmptyState } from '../../components/states.js';

/** The next step in a workspace without a state version. */
export const NoVersion = ({ children }: { readonly children: ReactNode }) => (
  <EmptyState icon={ResourceIcon} title="There is no state version yet">
    <Text>
      The first apply of a configuration with this workspace uploads a state. You can also upload one from another
      backend.
    </Text>
    <CodeBlock code={'terraform init\nterraform apply'} label="the commands" />
    <div>{children}</div>
  </EmptyState>
);
