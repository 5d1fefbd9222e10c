sup:
