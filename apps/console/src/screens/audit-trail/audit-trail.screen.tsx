import { Alert, Button, Group, Switch, Text } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { isDenied } from '../../api/api-error.js';
import { getExportAddress, type AuditTrailRow, type AuditTrailFilter, type TrailOwner } from '../../api/audit-trail.js';
import { AuditTrailIcon, ChevronDownIcon, SearchIcon } from '../../components/icons.js';
import { AdministratorsOnly } from '../../components/administrators-only.js';
import { lazyComponent } from '../../components/lazy-component.js';
import { Page } from '../../components/page.js';
import { ResourceNamesContext } from '../../components/resource-name.js';
import { RowTotal } from '../../components/row-total.js';
import { EmptyState, ErrorState, LoadingLines } from '../../components/states.js';
import { VirtualGrid } from '../../components/virtual-grid.js';
import { SiteTabs } from '../site/site-tabs.js';
import { TRAIL_COLUMNS } from './trail-columns.js';
import { toTrailFilter, type TrailSearch } from './audit-trail.search.js';
import { useListUse, type ListUse } from './list-use.js';
import type { ChangeTrailFilter } from './trail-filters.js';
import { useTrailList, type TrailList } from './trail-list.js';
import classes from './audit-trail.module.css';
import { formatCount } from '../../components/counts.js';

const TrailFilters = lazyComponent(() => import('./trail-filters.js'), 'TrailFilters');
const TrailActivityChart = lazyComponent(() => import('../../charts/trail-activity.js'), 'TrailActivityChart');
const TrailLogCard = lazyComponent(() => import('./trail-log-card.js'), 'TrailLogCard');
const EntryPanel = lazyComponent(() => import('./entry-panel.js'), 'EntryPanel');

const countFilters = ({ since, until, type = [], action = [], actor = [], resource = [] }: AuditTrailFilter): number =>
  [since, until].filter((time) => time !== undefined).length + [type, action, actor, resource].flat().length;

const formatEntries = (count: number, kind = ''): string => formatCount(count, `${kind}entry`, `${kind}entries`);

const NoMatch = ({ onClear }: { readonly onClear: () => void }) => (
  <EmptyState icon={SearchIcon} title="No entry matches">
    <Text>The filters exclude every entry that is kept. New entries that match appear here.</Text>
    <div>
      <Button variant="default" onClick={onClear}>
        Show all entries
      </Button>
    </div>
  </EmptyState>
);

const NoEntry = ({ organization }: { readonly organization: TrailOwner }) => (
  <EmptyState icon={AuditTrailIcon} title="There is no entry">
    <Text>
      {organization === null
        ? 'The trail records users, sign-ins, identity providers, and organizations as a whole.'
        : 'The trail records changes, and reads of secrets, while recording is on and the organization is entitled to a trail.'}{' '}
      Entries are deleted when they are older than its retention.
    </Text>
  </EmptyState>
);

type ContentProps = {
  readonly organization: TrailOwner;
  readonly list: TrailList;
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  readonly onOpen: (entry: AuditTrailRow) => void;
  readonly listUse: ListUse;
};

/** Also shown for an organization that does not exist, because the server does not distinguish the two. */
const OwnersOnly = () => (
  <EmptyState icon={AuditTrailIcon} title="Only owners can read the audit trail">
    <Text>Ask an owner of the organization for the entries that you need, or to add you to the team of owners.</Text>
  </EmptyState>
);

const TrailContent = ({ organization, list, isFiltered, onClear, onOpen, listUse }: ContentProps) => {
  if (list.error) return <ErrorState error={list.error} onRetry={list.retry} />;
  if (list.total === undefined) return <LoadingLines count={8} height={32} />;
  if (list.total === 0) return isFiltered ? <NoMatch onClear={onClear} /> : <NoEntry organization={organization} />;
  return (
    <div className={classes['list']} {...listUse.events}>
      <VirtualGrid
        label="Entries"
        columns={TRAIL_COLUMNS}
        count={list.total}
        getRow={list.getRow}
        getRowId={({ id }) => id}
        onRange={list.onRange}
        onOpen={onOpen}
        restarts={list.tail.shows}
        sort=""
        onSort={() => undefined}
      />
    </div>
  );
};

const TailError = ({ tail }: Pick<TrailList, 'tail'>) =>
  tail.error && (
    <Alert color="orange" variant="light" mb="sm" title="New entries do not arrive">
      <Group gap="sm">
        <Text size="sm">{tail.error.message}</Text>
        <Button size="compact-sm" variant="default" onClick={tail.retry}>
          Try again
        </Button>
      </Group>
    </Alert>
  );

const suggest = (list: TrailList, count: number) => {
  const entries = Array.from({ length: Math.min(count, 100) }, (_, index) => list.getRow(index)).filter(
    (entry) => entry !== undefined,
  );
  return {
    types: [...new Set(entries.map(({ resource }) => resource.type))].toSorted(),
    actions: [...new Set(entries.map(({ resource }) => resource.action))].toSorted(),
  };
};

type ToolbarProps = {
  readonly organization: TrailOwner;
  readonly filter: AuditTrailFilter;
  readonly list: TrailList;
  readonly isLive: boolean;
  readonly onLive: (isLive: boolean) => void;
  readonly onChange: ChangeTrailFilter;
};

type PanelButtonProps = { readonly isOpen: boolean; readonly onToggle: () => void; readonly children: ReactNode };

/** Opens and closes a panel above the entries. */
const PanelButton = ({ isOpen, onToggle, children }: PanelButtonProps) => (
  <Button variant="default" aria-expanded={isOpen} rightSection={<ChevronDownIcon size={14} />} onClick={onToggle}>
    {children}
  </Button>
);

const TrailToolbar = ({ organization, filter, list, isLive, onLive, onChange }: ToolbarProps) => {
  const filters = countFilters(filter);
  const [isOpen, setOpen] = useState(filters > 0);
  const [hasActivity, setActivity] = useState(false);
  const [hasLog, setLog] = useState(false);
  return (
    <>
      <Group gap="md" mb="0.75rem">
        <PanelButton isOpen={isOpen} onToggle={() => setOpen(!isOpen)}>
          {filters === 0 ? 'Filters' : `Filters (${filters})`}
        </PanelButton>
        {organization !== null && (
          <>
            <PanelButton isOpen={hasActivity} onToggle={() => setActivity(!hasActivity)}>
              Activity
            </PanelButton>
            <PanelButton isOpen={hasLog} onToggle={() => setLog(!hasLog)}>
              Proofs
            </PanelButton>
          </>
        )}
        <Switch
          label="Follow new entries"
          checked={isLive}
          disabled={filter.until !== undefined}
          onChange={(event) => onLive(event.currentTarget.checked)}
        />
        <RowTotal total={list.total} error={list.error} noun={['entry', 'entries']} />
        {/* Beside the others, because a line of its own would move the rows. */}
        {list.tail.waiting > 0 && (
          <Button variant="light" ml="auto" onClick={list.tail.show}>
            Show {formatEntries(list.tail.waiting, 'new ')}
          </Button>
        )}
      </Group>
      {hasActivity && organization !== null && (
        <div className={classes['activity']}>
          <TrailActivityChart organization={organization} />
        </div>
      )}
      {hasLog && organization !== null && (
        <div className={classes['activity']}>
          <TrailLogCard organization={organization} />
        </div>
      )}
      {isOpen && <TrailFilters filter={filter} suggestions={suggest(list, list.total ?? 0)} onChange={onChange} />}
    </>
  );
};

type TrailScreenProps = {
  readonly organization: TrailOwner;
  readonly search: TrailSearch;
  readonly onSearch: (search: TrailSearch, options?: { readonly replace: boolean }) => void;
  /** Links to the screens beside the trail. */
  readonly tabs?: ReactNode;
  /** Shown to people who may not read the trail. */
  readonly refusal: ReactNode;
};

const TrailScreen = ({ organization, search, onSearch, tabs, refusal }: TrailScreenProps) => {
  const [isLive, setLive] = useState(true);
  const { entry } = search;
  const filter = toTrailFilter(search);
  const follows = isLive && filter.until === undefined;
  const listUse = useListUse();
  const list = useTrailList({ organization, filter, isLive: follows, isInUse: listUse.isInUse });
  const change: ChangeTrailFilter = (changes) => onSearch({ ...search, ...changes } as TrailSearch, { replace: true });
  const open = (id: string | undefined) => onSearch(id === undefined ? filter : { ...filter, entry: id });
  const title = 'Audit trail';
  if (isDenied(list.error) || isDenied(list.tail.error)) return <Page title={title}>{refusal}</Page>;
  return (
    <Page
      title={title}
      description="Who did what, and when. The newest entry comes first."
      isFilled
      actions={
        <Button component="a" variant="default" href={getExportAddress(organization, filter)} download>
          Export {countFilters(filter) > 0 ? 'matching' : 'all'} entries (JSON lines)
        </Button>
      }
    >
      {tabs}
      <ResourceNamesContext value={list.names}>
        <TrailToolbar
          organization={organization}
          filter={filter}
          list={list}
          isLive={follows}
          onLive={setLive}
          onChange={change}
        />
        <TailError tail={list.tail} />
        <TrailContent
          organization={organization}
          list={list}
          isFiltered={countFilters(filter) > 0}
          onClear={() => onSearch({}, { replace: true })}
          onOpen={({ id }) => open(id)}
          listUse={listUse}
        />
        {entry !== undefined && (
          <EntryPanel organization={organization} search={search} id={entry} onClose={() => open(undefined)} />
        )}
      </ResourceNamesContext>
    </Page>
  );
};

/** Who did what in an organization. */
export const AuditTrailScreen = () => {
  const { organization } = useParams({ from: '/$organization/audit-trail' });
  const search = useSearch({ from: '/$organization/audit-trail' });
  const navigate = useNavigate({ from: '/$organization/audit-trail' });
  return (
    <TrailScreen
      organization={organization}
      search={search}
      onSearch={(next, options) => void navigate({ search: next, ...options })}
      refusal={<OwnersOnly />}
    />
  );
};

/** Who did what at the site. */
export const SiteAuditTrailScreen = () => {
  const search = useSearch({ from: '/~site/audit-trail' });
  const navigate = useNavigate({ from: '/~site/audit-trail' });
  return (
    <TrailScreen
      organization={null}
      search={search}
      onSearch={(next, options) => void navigate({ search: next, ...options })}
      tabs={<SiteTabs />}
      refusal={<AdministratorsOnly />}
    />
  );
};
