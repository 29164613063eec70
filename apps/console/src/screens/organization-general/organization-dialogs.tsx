import { List, Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { organizationContentQuery, useDeleteOrganization, useRenameOrganization } from '../../api/organizations.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { formatCount } from '../../components/counts.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { showToast } from '../../toasts.js';

type DialogProps = { readonly name: string; readonly onClose: () => void };

/** Renames the organization, and opens the settings at the new address. */
export const RenameDialog = ({ name: present, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const change = useRenameOrganization(present);
  const form = useForm({ name: present }, change);
  const { name } = form.trimmed;
  const rename = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The organization ${present} is now ${name}.` });
      void navigate({ to: '/$organization/settings/general', params: { organization: name } });
      onClose();
    };
    change.mutate(name, { onSuccess });
  };
  return (
    <FormDialog
      title={`Rename ${present}`}
      action="Rename"
      isDisabled={name === '' || name === present}
      form={form}
      onSubmit={rename}
      onClose={onClose}
      intro={
        <Text size="sm" component="div">
          Ids stay. What contains the name stops working until you change it:
          <List size="sm" mt="xs">
            <List.Item>
              the <code>cloud</code> and <code>backend</code> blocks of configurations,
            </List.Item>
            <List.Item>addresses of providers in this registry, and scripts that call the API,</List.Item>
            <List.Item>bookmarks of the console.</List.Item>
          </List>
        </Text>
      }
    >
      <TextInput
        label="New name"
        description="Letters, digits, hyphens and underscores."
        required
        data-autofocus
        {...form.text('name')}
      />
    </FormDialog>
  );
};

/** Deletes the organization after its name was typed. */
export const DeleteOrganizationDialog = ({ name, onClose }: DialogProps) => {
  const navigate = useNavigate();
  const { data: content } = useQuery(organizationContentQuery(name));
  const change = useDeleteOrganization(name);
  const destroy = () => {
    const onSuccess = () => {
      showToast({ kind: 'success', message: `The organization ${name} is deleted.` });
      void navigate({ to: '/' });
    };
    change.mutate(undefined, { onSuccess });
  };
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      typed={name}
      change={change}
      onConfirm={destroy}
      onClose={onClose}
    >
      Nobody can restore the organization. With it go:
      <List size="sm" mt="xs">
        <List.Item>
          {content ? formatCount(content.workspaces, 'workspace') : 'its workspaces'} with their states, variables and
          runs,
        </List.Item>
        <List.Item>
          {content
            ? `${formatCount(content.projects, 'project')} and ${formatCount(content.teams, 'team')}`
            : 'its projects and teams'}{' '}
          with their access and tokens,
        </List.Item>
        <List.Item>the providers and keys of its registry.</List.Item>
      </List>
    </ConfirmDialog>
  );
};
