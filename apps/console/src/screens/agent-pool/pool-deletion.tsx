import { Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Card } from '../../components/card.js';
import { formatCount } from '../../components/counts.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { explainPoolRefusal, type PoolProps } from './pool-rights.js';

const DeletePoolDialog = lazyComponent(() => import('./pool-dialogs.js'), 'DeletePoolDialog');

/** Returns why the pool cannot be deleted, or null. The server also counts workspaces and projects that the person does not see. */
const explainDeletionRefusal = (props: PoolProps): string | null => {
  const uses = props.pool.relationships.workspaces.data.length;
  if (uses > 0)
    return `${formatCount(uses, 'workspace uses', 'workspaces use')} the pool. Let them use another one first.`;
  return explainPoolRefusal(props);
};

export const PoolDeletion = (props: PoolProps) => {
  const [isDeleting, dialog] = useDisclosure(false);
  const refusal = explainDeletionRefusal(props);
  return (
    <Card title="Deletion">
      <Group justify="space-between">
        <Text size="sm">{refusal ?? 'The pool and its tokens are deleted.'}</Text>
        <PermittedButton
          color="red"
          variant="light"
          isPermitted={refusal === null}
          reason={refusal ?? ''}
          command="Delete the agent pool"
          onClick={dialog.open}
        >
          Delete the agent pool
        </PermittedButton>
      </Group>
      {isDeleting && <DeletePoolDialog {...props} onClose={dialog.close} />}
    </Card>
  );
};
