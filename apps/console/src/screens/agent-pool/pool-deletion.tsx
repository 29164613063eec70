import { Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useDeleteAgentPool } from '../../api/agent-pools.js';
import { Card } from '../../components/card.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { reportAndClose } from '../../toasts.js';
import { explainPoolRefusal, type PoolProps } from './pool-rights.js';

const DeletePoolDialog = ({ organization, pool, onClose }: PoolProps & { readonly onClose: () => void }) => {
  const { name } = pool.attributes;
  const navigate = useNavigate();
  const deletion = useDeleteAgentPool(organization, pool.id);
  const leave = () => {
    onClose();
    void navigate({ to: '/$organization/settings/agent-pools', params: { organization } });
  };
  return (
    <ConfirmDialog
      title={`Delete the agent pool ${name}`}
      action="Delete"
      typed={name}
      change={deletion}
      onConfirm={() => deletion.mutate(undefined, reportAndClose(`The agent pool ${name} is deleted.`, leave))}
      onClose={onClose}
    >
      Its tokens end at once, so its agents can no longer report. You cannot undo this.
    </ConfirmDialog>
  );
};

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
