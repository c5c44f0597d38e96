// A picture with nothing to try: it only follows the page's theme.
import { figure, turned } from './page';

if (figure()) turned();
