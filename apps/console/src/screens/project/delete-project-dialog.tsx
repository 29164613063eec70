import { List } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useDeleteProject, type Project } from '../../api/projects.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { useDeletionReport } from '../../components/use-deletion-report.js';

type DialogProps = { readonly organization: string; readonly project: Project; readonly onClose: () => void };

export const DeleteProjectDialog = ({ organization, project: { id, attributes }, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const change = useDeleteProject(organization, id);
  const report = useDeletionReport(organization);
  const leave = async () => {
    await report(id, {
      deleted: `The project ${attributes.name} is deleted.`,
      recovered: `The project ${attributes.name} is back.`,
    });
    onClose();
    void navigate({ to: '/$organization/projects', params: { organization } });
  };
  return (
    <ConfirmDialog
      title={`Delete ${attributes.name}`}
      action="Delete"
      typed={attributes.name}
      change={change}
      onConfirm={() => change.mutate(undefined, { onSuccess: () => void leave() })}
      onClose={onClose}
    >
      If the site keeps deleted resources, you can recover the project. With it go:
      <List size="sm" mt="xs">
        <List.Item>the access of {formatCount(attributes['team-count'], 'team')} to it,</List.Item>
        <List.Item>its tags, and the variable sets that it owns.</List.Item>
      </List>
    </ConfirmDialog>
  );
};
