import {
  createSubject,
  updateSubject,
  type HistoryChange,
  type HistoryLookup,
  type OrganizationRecordedEvent,
  type SubjectData,
} from '#platform/kernel';

/**
 * Returns whether a configuration version becomes the current one: it is newer, or has the same time and the greater
 * id.
 */
const isNewer = (before: SubjectData | null, since: string, id: string): boolean => {
  const currentSince = before?.['currentConfigurationSince'];
  const current = before?.['currentConfigurationVersion'];
  return (
    currentSince === null || since > (currentSince as string) || (since === currentSince && id > (current as string))
  );
};

type NewConfiguration = { readonly workspace: string; readonly speculative: boolean; readonly provisional: boolean };

export const addConfiguration = (
  { workspace, speculative, provisional }: NewConfiguration,
  { stream, time }: OrganizationRecordedEvent,
  lookup: HistoryLookup,
): readonly HistoryChange[] => {
  const becomesCurrent = !speculative && !provisional && isNewer(lookup.of(workspace), time, stream);
  return [
    ...createSubject(stream, { workspace }),
    ...(becomesCurrent
      ? updateSubject(workspace, { currentConfigurationVersion: stream, currentConfigurationSince: time })
      : []),
  ];
};
