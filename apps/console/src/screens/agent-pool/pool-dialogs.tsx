import { useNavigate } from '@tanstack/react-router';
import { useDeleteAgentPool, useRemoveAgent } from '../../api/agent-pool-changes.js';
import { nameAgent, type PoolAgent } from '../../api/agent-pools.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { reportAndClose } from '../../toasts.js';
import type { PoolProps } from './pool-rights.js';

type RemoveProps = { readonly organization: string; readonly agent: PoolAgent; readonly onClose: () => void };

export const RemoveAgentDialog = ({ organization, agent, onClose }: RemoveProps) => {
  const name = nameAgent(agent);
  const change = useRemoveAgent(organization);
  return (
    <ConfirmDialog
      title={`Remove ${name}`}
      action="Remove"
      change={change}
      onConfirm={() => change.mutate(agent.id, reportAndClose(`The agent ${name} is removed.`, onClose))}
      onClose={onClose}
    >
      The list no longer shows this agent. If it still runs, it has to register again.
    </ConfirmDialog>
  );
};

export const DeletePoolDialog = ({ organization, pool, onClose }: PoolProps & { readonly onClose: () => void }) => {
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
