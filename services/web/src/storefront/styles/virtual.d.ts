declare module "virtual:tokens.css";
declare module "*.css";
