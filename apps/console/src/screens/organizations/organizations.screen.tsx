import { Page } from '../../components/page.js';

export const OrganizationsScreen = () => <Page title="Organizations">…</Page>;
