// The entry of the client's build for styles: their order is that of the cascade.
import "./tokens.css";
import "./fonts.css";
import "./base.css";
import "./layout.css";
import "./parts.css";
import "./app.css";
import "./plans.css";
import "./prose.css";
import "./viewer.css";
import "./print.css";
