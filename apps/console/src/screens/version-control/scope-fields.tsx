import { Radio, Stack } from '@mantine/core';
import { ProjectsSelect } from '../../components/resources-select.js';

type ScopeForm = {
  readonly values: { readonly 'organization-scoped': boolean };
  readonly enter: (fields: { readonly 'organization-scoped': boolean }) => void;
  readonly choice: (name: 'projects') => {
    readonly value: readonly string[];
    readonly error: string | null;
    readonly onChange: (ids: readonly string[]) => void;
  };
};

type ScopeFieldsProps = { readonly organization: string; readonly form: ScopeForm };

/** The workspaces that may use a connection. */
export const ScopeFields = ({ organization, form }: ScopeFieldsProps) => {
  const isForAll = form.values['organization-scoped'];
  return (
    <>
      <Radio.Group
        label="May be used by"
        value={String(isForAll)}
        onChange={(value) => form.enter({ 'organization-scoped': value === 'true' })}
      >
        <Stack gap="xs" mt="xs">
          <Radio value="true" label="All workspaces of the organization" />
          <Radio value="false" label="Workspaces of these projects only" />
        </Stack>
      </Radio.Group>
      {!isForAll && <ProjectsSelect label="Projects" organization={organization} {...form.choice('projects')} />}
    </>
  );
};
