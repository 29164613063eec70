import { Alert, Group, Text } from '@mantine/core';
import { useUpdateWorkspace } from '../../api/workspace-settings.js';
import type { Workspace } from '../../api/workspaces.js';
import { PermittedButton } from '../../components/permitted-button.js';
import { FormProblems } from '../../components/problems.js';
import { ExactTime, useNow } from '../../components/times.js';
import { isDestroyTimeOver } from './destroy-time.js';
import { showToast } from '../../toasts.js';

const WEEK_MS = 7 * 24 * 60 * 60 * 1_000;

type DestroyBannerProps = { readonly organization: string; readonly workspace: Workspace };

type DestroyPlanProps = { readonly at: string; readonly now: number; readonly isBlocked: boolean };

const DestroyPlan = ({ at, now, isBlocked }: DestroyPlanProps) => {
  const time = <ExactTime value={at} />;
  if (isDestroyTimeOver(at, now)) return <>Nothing is destroyed any more: {time} passed days ago.</>;
  if (isBlocked) return <>Nothing is destroyed on {time}, because this workspace allows no destroy plans.</>;
  if (Date.parse(at) <= now) return <>A run that destroys all resources of this workspace is due since {time}.</>;
  return <>All resources of this workspace are destroyed on {time}.</>;
};

/** Says when the resources of the workspace are destroyed, or what prevents it. */
export const DestroyBanner = ({ organization, workspace }: DestroyBannerProps) => {
  const change = useUpdateWorkspace(organization, workspace);
  const now = useNow();
  const { attributes } = workspace;
  const at = attributes['auto-destroy-at'];
  if (at === null || attributes['resource-count'] === 0) return null;
  const postpone = (): void => {
    const later = new Date(Math.max(now, Date.parse(at)) + WEEK_MS).toISOString();
    const onSuccess = (): void => void showToast({ kind: 'success', message: 'Postponed by a week.' });
    // A time of its own ends the inheritance. With the inherited duration, a change of the state still postpones.
    const duration = attributes['auto-destroy-activity-duration'];
    const inherited = attributes['inherits-project-auto-destroy'] ? { 'auto-destroy-activity-duration': duration } : {};
    change.mutate({ attributes: { 'auto-destroy-at': later, ...inherited } }, { onSuccess });
  };
  const isBlocked = attributes['auto-destroy-status'] === 'blocked';
  const isOver = isDestroyTimeOver(at, now);
  return (
    <Alert color={isBlocked || isOver ? 'gray' : 'orange'} variant="light" role="status">
      <Group justify="space-between">
        <Text size="sm">
          <DestroyPlan at={at} now={now} isBlocked={isBlocked} />
        </Text>
        {!isBlocked && !isOver && (
          <PermittedButton
            command="Postpone the automatic destruction"
            size="compact-sm"
            variant="default"
            loading={change.isPending}
            isPermitted={attributes.permissions['can-update']}
            reason="You need admin access to this workspace."
            onClick={postpone}
          >
            Postpone by a week
          </PermittedButton>
        )}
      </Group>
      <FormProblems error={change.error} />
    </Alert>
  );
};
