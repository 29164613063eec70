import { List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeleteWorkspace, workspaceContentQuery, type WorkspaceContent } from '../../api/workspace-deletion.js';
import type { Workspace } from '../../api/workspaces.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { LoadingLines, QueryState } from '../../components/states.js';
import { useDeletionReport } from '../../components/use-deletion-report.js';

type DeleteDialogProps = {
  readonly organization: string;
  readonly workspace: Workspace;
  readonly isForced: boolean;
  readonly onClose: () => void;
};

const describe = (count: number | null, one: string): string =>
  count === null ? `All ${one}s (you may not see how many)` : formatCount(count, one);

const Losses = ({ content: { stateVersions, runs, variables } }: { readonly content: WorkspaceContent }) => (
  <>
    <Text size="sm">The workspace is deleted, with:</Text>
    <List size="sm">
      <List.Item>{describe(stateVersions, 'state version')}</List.Item>
      <List.Item>{describe(runs, 'run')}</List.Item>
      <List.Item>{describe(variables, 'variable')}</List.Item>
      <List.Item>its tags, notifications, and the access of teams to it</List.Item>
    </List>
    <Text size="sm">Runs cannot come back. If the site keeps deleted workspaces, you can recover the rest.</Text>
  </>
);

/** Confirms the deletion of a workspace, and shows what is lost. */
export const DeleteDialog = ({ organization, workspace, isForced, onClose }: DeleteDialogProps) => {
  const navigate = useNavigate();
  const change = useDeleteWorkspace(organization, workspace);
  const query = useQuery(workspaceContentQuery(workspace));
  const { name, 'resource-count': resources } = workspace.attributes;
  const report = useDeletionReport(organization);
  const leave = async () => {
    await report(workspace.id, {
      deleted: `The workspace ${name} is deleted.`,
      recovered: `The workspace ${name} is back, without its runs.`,
    });
    void navigate({ to: '/$organization/workspaces', params: { organization }, replace: true });
  };
  return (
    <ConfirmDialog
      title={isForced ? `Force the deletion of ${name}` : `Delete ${name}`}
      action={isForced ? 'Delete by force' : 'Delete'}
      typed={name}
      change={change}
      onConfirm={() => change.mutate({ safely: !isForced }, { onSuccess: () => void leave() })}
      onClose={onClose}
    >
      <QueryState query={query} what="workspace" loading={<LoadingLines count={4} />}>
        {(content) => <Losses content={content} />}
      </QueryState>
      {isForced && resources > 0 && (
        <Text size="sm" mt="sm">
          {formatCount(resources, 'resource')} of the state {resources === 1 ? 'stays' : 'stay'}, and nothing manages{' '}
          {resources === 1 ? 'it' : 'them'} any more. Keep a copy of the state if you still need them.
        </Text>
      )}
    </ConfirmDialog>
  );
};
