import { Text } from '@mantine/core';
import { CodeBlock } from '../../components/copy.js';
import { ResourceIcon } from '../../components/icons.js';
import { EmptyState } from '../../components/states.js';

/** The next step in a workspace without a state version. */
export const NoVersion = () => (
  <EmptyState icon={ResourceIcon} title="There is no state version yet">
    <Text>The first apply of a configuration with this workspace uploads a state.</Text>
    <CodeBlock code={'terraform init\nterraform apply'} label="the commands" />
  </EmptyState>
);
