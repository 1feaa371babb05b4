// From a page at 03:05: plans that are run from the dashboard come with their approval; alerts: incident.spec.ts.
import { waitsFor } from './absent.ts';

waitsFor('approval', 'Maintenance safety');
