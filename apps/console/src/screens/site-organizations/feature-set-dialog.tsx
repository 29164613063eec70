import { Select, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { featureSetsQuery, useChangeFeatureSet, type SiteOrganization } from '../../api/site-organizations.js';
import { useForm } from '../../components/form.js';
import { FormDialog } from '../../components/form-dialog.js';
import { reportAndClose } from '../../toasts.js';

type FeatureSetDialogProps = { readonly organization: SiteOrganization; readonly onClose: () => void };

/** Changes what an organization can use. */
export const FeatureSetDialog = ({ organization: { id, featureSet: present }, onClose }: FeatureSetDialogProps) => {
  const change = useChangeFeatureSet();
  const { data: sets = [] } = useQuery(featureSetsQuery);
  const form = useForm<{ readonly 'feature-set': string | null }>({ 'feature-set': present }, change);
  const featureSet = form.values['feature-set'];
  const chosen = sets.find((set) => set.id === featureSet);
  const send = (next: string, message: string, undo?: () => void) =>
    change.mutate({ organization: id, featureSet: next }, reportAndClose(message, onClose, undo));
  const save = () => {
    if (featureSet === null) return;
    send(featureSet, `${id} has another feature set.`, () => send(present, `${id} has the former feature set.`));
  };
  return (
    <FormDialog
      title={`Feature set of ${id}`}
      action="Change"
      isDisabled={featureSet === null || featureSet === present}
      form={form}
      onSubmit={save}
      onClose={onClose}
    >
      <Select
        label="Feature set"
        allowDeselect={false}
        data={sets.map(({ id: value, attributes }) => ({ value, label: attributes.name }))}
        comboboxProps={{ withinPortal: false }}
        {...form.choice('feature-set')}
      />
      {chosen && <Text size="sm">{chosen.attributes.description}</Text>}
      <Text size="sm" c="dimmed">
        It applies from the next request. Nothing that the organization has is deleted.
      </Text>
    </FormDialog>
  );
};
