import { FileButton, Stack } from '@mantine/core';
import { useUploadConfiguration } from '../../api/runs.js';
import { PendingButton } from '../../components/pending-button.js';
import { FormProblems } from '../../components/problems.js';
import { showToast } from '../../toasts.js';

type UploadProps = { readonly organization: string; readonly workspace: string };

/** Uploads an archive of a configuration, which is then the current one of the workspace. */
export const UploadConfiguration = ({ organization, workspace }: UploadProps) => {
  const change = useUploadConfiguration(organization, workspace);
  const upload = (archive: File | null) => {
    if (archive === null) return;
    const message = `The configuration ${archive.name} is uploaded.`;
    change.mutate(archive, { onSuccess: () => showToast({ kind: 'success', message }) });
  };
  return (
    <Stack gap="xs">
      <FormProblems error={change.error} />
      <FileButton accept=".gz,.tgz,application/gzip" onChange={upload}>
        {(props) => (
          <PendingButton {...props} variant="default" w="fit-content" isPending={change.isPending}>
            Upload an archive (.tar.gz)
          </PendingButton>
        )}
      </FileButton>
    </Stack>
  );
};
