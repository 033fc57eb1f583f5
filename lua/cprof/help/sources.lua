return {
  title = "sources",
  summary = "",
  text = [[

]],
}
