import { Checkbox, MultiSelect, Radio, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { allPoliciesQuery } from '../../api/policies.js';
import {
  useCreatePolicySet,
  useDeletePolicySet,
  useUpdatePolicySet,
  type ConsolePolicySet,
} from '../../api/policy-sets.js';
import { ConfirmDialog } from '../../components/confirm-dialog.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { describePolicyScope } from '../../components/policy-words.js';
import { ProjectsSelect, WorkspacesSelect } from '../../components/resources-select.js';
import { toOption } from '../../components/search-select.js';
import { reportAndClose } from '../../toasts.js';
import {
  LATEST,
  listPolicySetChanges,
  NEW_POLICY_SET,
  toPolicySetRequest,
  toPolicySetValues,
  type PolicySetValues,
} from './policy-set-form.js';

type DialogProps = { readonly organization: string; readonly onClose: () => void };
type PolicySetDialogProps = DialogProps & { readonly set: ConsolePolicySet };
type FieldsProps = {
  readonly organization: string;
  readonly form: ReturnType<typeof useForm<PolicySetValues>>;
};

const PoliciesField = ({ organization, form }: FieldsProps) => {
  const { data = [] } = useQuery(allPoliciesQuery(organization));
  const { value, ...field } = form.choice('policies');
  return (
    <MultiSelect
      {...field}
      label="Policies"
      searchable
      value={[...value]}
      data={data.map(toOption)}
      nothingFoundMessage="Nothing else matches"
      maxDropdownHeight={180}
      comboboxProps={{ withinPortal: false }}
    />
  );
};

const ScopeFields = ({ organization, form }: FieldsProps) => {
  const { global } = form.values;
  return (
    <>
      <Radio.Group
        label="Applies to"
        value={global ? 'all' : 'chosen'}
        onChange={(scope) => form.enter({ global: scope === 'all' })}
      >
        <Stack gap={8} mt={4}>
          <Radio value="chosen" label="Workspaces and projects that you choose" />
          <Radio value="all" label="All workspaces" description="Of the organization, including later ones." />
        </Stack>
      </Radio.Group>
      {!global && (
        <>
          <ProjectsSelect organization={organization} label="Projects" {...form.choice('projects')} />
          <WorkspacesSelect organization={organization} label="Workspaces" {...form.choice('workspaces')} />
        </>
      )}
      <ProjectsSelect organization={organization} label="Except projects" {...form.choice('project-exclusions')} />
      <WorkspacesSelect
        organization={organization}
        label="Except workspaces"
        {...form.choice('workspace-exclusions')}
      />
    </>
  );
};

const PolicySetFields = (props: FieldsProps) => {
  const { form } = props;
  return (
    <>
      <TextInput label="Name" required data-autofocus spellCheck={false} {...form.text('name')} />
      <TextInput label="Description" {...form.text('description')} />
      <PoliciesField {...props} />
      <ScopeFields {...props} />
      <Checkbox
        label="Overridable"
        description="Teams that may override policies can let a run continue whose plan fails a mandatory policy."
        {...form.checkbox('overridable')}
      />
      <TextInput
        label="Version of OPA"
        description={`A version that the site has, or ${LATEST}.`}
        spellCheck={false}
        {...form.text('policy-tool-version')}
      />
    </>
  );
};

export const CreatePolicySetDialog = ({ organization, onClose }: DialogProps) => {
  const change = useCreatePolicySet(organization);
  const form = useForm(NEW_POLICY_SET, change);
  const { attributes, relationships } = toPolicySetRequest(form.trimmed);
  const { name } = form.trimmed;
  const data = { attributes: { ...attributes, name, kind: 'opa' as const }, relationships };
  return (
    <FormDialog
      title="New policy set"
      action="Create"
      form={form}
      onSubmit={() => change.mutate(data, reportAndClose(`The policy set ${name} is created.`, onClose))}
      onClose={onClose}
    >
      <PolicySetFields organization={organization} form={form} />
    </FormDialog>
  );
};

export const ChangePolicySetDialog = ({ organization, set, onClose }: PolicySetDialogProps) => {
  const change = useUpdatePolicySet(organization, set.id);
  const present = toPolicySetValues(set);
  const form = useForm(present, change);
  const changes = listPolicySetChanges(present, form.trimmed);
  const { name } = form.trimmed;
  return (
    <FormDialog
      title={`Change ${set.attributes.name}`}
      action="Save"
      isDisabled={Object.keys(changes).length === 0}
      form={form}
      onSubmit={() =>
        change.mutate(toPolicySetRequest(changes), reportAndClose(`The policy set ${name} is saved.`, onClose))
      }
      onClose={onClose}
    >
      <PolicySetFields organization={organization} form={form} />
    </FormDialog>
  );
};

export const DeletePolicySetDialog = ({ organization, set, onClose }: PolicySetDialogProps) => {
  const { name } = set.attributes;
  const deletion = useDeletePolicySet(organization, set.id);
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete"
      typed={name}
      change={deletion}
      onConfirm={() => deletion.mutate(undefined, reportAndClose(`The policy set ${name} is deleted.`, onClose))}
      onClose={onClose}
    >
      It applies to: {describePolicyScope(set)}. Later plans need not pass its policies, which stay. You cannot undo
      this.
    </ConfirmDialog>
  );
};
