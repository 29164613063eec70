import '@mantine/dropzone/styles.layer.css';
import { Alert, Button, Stack, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { useRef, useState } from 'react';
import { RowList } from '../../components/row-list.js';
import { readRelease, type Release } from './release-files.js';
import classes from './registry.module.css';

type SummaryProps = { readonly release: Release };

const ReleaseSummary = ({ release: { name, version, archives, protocols } }: SummaryProps) => (
  <Text size="sm">
    Provider <strong>{name}</strong>, version <strong>{version}</strong>, protocol {protocols.join(', ')}, platforms:{' '}
    {archives.map(({ os, arch }) => `${os}/${arch}`).join(', ')}
  </Text>
);

const ReleaseFileList = ({ release: { usedFiles, unusedFiles } }: SummaryProps) => (
  <RowList label="Chosen files" count={usedFiles.length + unusedFiles.length}>
    {usedFiles.map((name) => (
      <li key={name}>{name}</li>
    ))}
    {unusedFiles.map((name, index) => (
      // Files of different folders can have the same name.
      <li key={`${name} ${index}`}>
        {name}{' '}
        <Text span size="sm" c="dimmed">
          (not used)
        </Text>
      </li>
    ))}
  </RowList>
);

type FilesProps = {
  readonly release: Release | null;
  readonly isBusy: boolean;
  readonly onRelease: (release: Release | null) => void;
};

/** A place for the files of a release. They are read when they are dropped or chosen. */
export const ReleaseDrop = ({ release, isBusy, onRelease }: FilesProps) => {
  const [problem, setProblem] = useState<string | null>(null);
  const open = useRef<() => void>(null);
  const readFiles = (files: readonly File[]) => {
    const show = (release: Release | null, message: string | null) => {
      onRelease(release);
      setProblem(message);
    };
    void readRelease(files).then(
      (release) => show(release, null),
      ({ message }: Error) => show(null, message),
    );
  };
  return (
    <>
      <Dropzone
        openRef={open}
        activateOnClick={false}
        activateOnKeyboard={false}
        disabled={isBusy}
        onDrop={readFiles}
        className={classes['drop']}
        inputProps={{ 'aria-label': 'Files of the release' }}
        attributes={{ root: { role: 'group', 'aria-label': 'Drop the files of the release here' } }}
        enablePointerEvents
        tabIndex={-1}
      >
        <Stack gap="xs" align="center">
          {release ? (
            <ReleaseSummary release={release} />
          ) : (
            <Text size="sm">Drop all files of the folder dist here.</Text>
          )}
          <Button variant="default" disabled={isBusy} onClick={() => open.current?.()}>
            Choose files
          </Button>
        </Stack>
      </Dropzone>
      {release && <ReleaseFileList release={release} />}
      {problem !== null && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
    </>
  );
};
