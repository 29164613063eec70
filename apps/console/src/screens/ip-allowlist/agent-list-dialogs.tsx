import { Checkbox, TextInput } from '@mantine/core';
import { useCreateAgentList, useDeleteAgentList, useUpdateAgentList } from '../../api/ip-allowlist-changes.js';
import type { AgentList } from '../../api/ip-allowlist.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { FormDialog } from '../../components/form-dialog.js';
import { useForm } from '../../components/form.js';
import { AgentPoolsSelect } from '../../components/resources-select.js';
import { reportAndClose } from '../../toasts.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };
type ListDialogProps = DialogProps & { readonly list: AgentList };

type ListFormProps = DialogProps & {
  readonly title: string;
  readonly action: string;
  readonly present: { readonly name: string; readonly isForAll: boolean; readonly pools: readonly string[] };
  readonly change: ReturnType<typeof useCreateAgentList>;
  readonly report: (name: string) => string;
};

const ListForm = ({ organization, title, action, present, change, report, onClose }: ListFormProps) => {
  const form = useForm(present, change);
  return (
    <FormDialog
      title={title}
      action={action}
      form={form}
      onSubmit={() => change.mutate(form.trimmed, reportAndClose(report(form.trimmed.name), onClose))}
      onClose={onClose}
    >
      <TextInput label="Name" required data-autofocus {...form.text('name')} />
      <Checkbox label="For the agents of all pools of the organization" {...form.checkbox('isForAll')} />
      {!form.values.isForAll && (
        <AgentPoolsSelect
          organization={organization}
          label="Agent pools"
          description="A list without a pool restricts no agent"
          {...form.choice('pools')}
        />
      )}
    </FormDialog>
  );
};

export const CreateListDialog = ({ organization, onClose }: DialogProps) => (
  <ListForm
    title="Create a list for agents"
    action="Create"
    organization={organization}
    present={{ name: '', isForAll: false, pools: [] }}
    change={useCreateAgentList(organization)}
    report={(name) => `The list ${name} is created. It restricts agents as soon as it has a range.`}
    onClose={onClose}
  />
);

export const EditListDialog = ({ organization, list, onClose }: ListDialogProps) => (
  <ListForm
    title={`Edit ${list.attributes.name}`}
    action="Save"
    organization={organization}
    present={{
      name: list.attributes.name,
      isForAll: list.attributes['enforcement-scope'] === 'all_agent_pools',
      pools: list.relationships['agent-pools'].data.map(({ id }) => id),
    }}
    change={useUpdateAgentList(organization, list)}
    report={(name) => `The list ${name} is saved.`}
    onClose={onClose}
  />
);

export const DeleteListDialog = ({ organization, list, onClose }: ListDialogProps) => {
  const { name } = list.attributes;
  const change = useDeleteAgentList(organization);
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      change={change}
      onConfirm={() => change.mutate(list.id, reportAndClose(`The list ${name} is deleted.`, onClose))}
      onClose={onClose}
    >
      Its ranges are deleted too. Agents that no other list restricts may send requests from every address.
    </ConfirmDialog>
  );
};
