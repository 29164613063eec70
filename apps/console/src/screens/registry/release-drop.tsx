import { Alert, Text } from '@mantine/core';
import { useState } from 'react';
import { FileDrop } from '../../components/file-drop.js';
import { RowList } from '../../components/row-list.js';
import { readRelease, type Release } from './release-files.js';

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
  const readFiles = (files: readonly File[]): void => {
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
      <FileDrop label="the files of the release" action="Choose files" isBusy={isBusy} onFiles={readFiles}>
        {release ? (
          <ReleaseSummary release={release} />
        ) : (
          <Text size="sm">Drop all files of the folder dist here.</Text>
        )}
      </FileDrop>
      {release && <ReleaseFileList release={release} />}
      {problem !== null && (
        <Alert color="red" role="alert">
          {problem}
        </Alert>
      )}
    </>
  );
};
