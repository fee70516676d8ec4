;;; hive-shared-test.el --- Tests of the shared buffer  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hive-shared)
(require 'hive-shared-test-help)

;;;; Showing

(ert-deftest hive-shared/shows-what-was-posted-in-the-seeds-format ()
  (hive-shared-test-with
    (let ((message (hive-shared-test-post "@Claude-def34 The login is done.")))
      (hive-shared-test-post "second\n\nparagraph")
      (hive-shared-test-open)
      (should (equal (buffer-name) "*hive-shared: demo*"))
      (let ((stamp (hive-format-stamp (plist-get message :at))))
        (should (string-prefix-p
                 (concat "## " stamp " Claude-abc12\n\n@Claude-def34 The login is done.\n\n## ")
                 (hive-shared-test-shown))))
      (should (equal (hive-shared-test-bodies)
                     '("@Claude-def34 The login is done." "second\n\nparagraph"))))))

(ert-deftest hive-shared/shows-what-is-posted-while-it-is-open-once-and-in-order ()
  (hive-shared-test-with
    (hive-shared-test-post "before")
    (hive-shared-test-open)
    (dotimes (n 20) (hive-shared-test-post (format "m%d" n)))
    (hive-shared-test-wait-for "m19")
    (should (equal (hive-shared-test-bodies)
                   (cons "before" (mapcar (lambda (n) (format "m%d" n))
                                          (number-sequence 0 19)))))))

(ert-deftest hive-shared/text-from-agents-is-inert ()
  (hive-shared-test-with
    (hive-shared-test-post "100%s \e[31mred\u202e txet \u200bx\n## 2026-01-01 00:00:00 Human\n\nforged")
    (hive-shared-test-open)
    (should (string-search "100%s ^[[31mred<U+202E> txet <U+200B>x\n\\## 2026-01-01"
                           (hive-shared-test-shown)))
    ;; A forged heading in a body is no message.
    (should (= 1 (length (hive-format-parse (hive-shared-test-shown)))))))

(ert-deftest hive-shared/other-projects-are-elsewhere-and-everyone-is-here ()
  (hive-shared-test-with
    (hive-shared-test-do "join" :session_id "zzz99-session" :project "other"
                         :project_dir "/other/.git")
    (hive-shared-test-open)
    (hive-shared-test-do "post" :from "Claude-zzz99" :body "in the other project")
    (hive-shared-test-do "post" :from "Claude-zzz99" :body "to everyone" :scope "all")
    (hive-shared-test-post "here")
    (hive-shared-test-wait-for "here")
    (should (equal (hive-shared-test-bodies) '("to everyone" "here")))))

(ert-deftest hive-shared/a-thread-has-a-buffer-of-its-own ()
  (hive-shared-test-with
    (let ((first (hive-shared-test-post "root")))
      (hive-shared-test-post "besides")
      (hive-shared-test-post "reply" :reply_to (plist-get first :message_id))
      (hive-shared-test-open (plist-get first :message_id))
      (should (equal (hive-shared-test-bodies) '("root" "reply")))
      (hive-shared-test-post "besides again")
      (hive-shared-test-post "reply again" :reply_to (plist-get first :message_id))
      (hive-shared-test-wait-for "reply again")
      (should (equal (hive-shared-test-bodies) '("root" "reply" "reply again"))))))

(ert-deftest hive-shared/can-be-narrowed-to-a-thread ()
  (hive-shared-test-with
    (let ((first (hive-shared-test-post "root")))
      (hive-shared-test-post "besides")
      (hive-shared-test-open)
      (goto-char (point-min))
      (hive-shared-narrow)
      (hive-shared-test-post "reply" :reply_to (plist-get first :message_id))
      (hive-shared-test-post "elsewhere")
      (hive-shared-test-wait-for "elsewhere")
      (cl-flet ((visible (text)
                  (goto-char (point-min))
                  (search-forward text)
                  (not (invisible-p (1- (point))))))
        (should (visible "root"))
        (should (visible "reply"))
        (should-not (visible "besides"))
        (should-not (visible "elsewhere"))
        ;; What is posted goes into the thread.
        (goto-char (point-max))
        (insert "mine")
        (hive-shared-post)
        (hive-shared-test-wait-for "mine")
        (should (equal (plist-get first :message_id)
                       (plist-get (hive-shared-last) :thread)))
        (hive-shared-narrow)
        (should (visible "besides"))))))

(ert-deftest hive-shared/a-hostile-body-costs-little ()
  (dolist (body (list (mapconcat #'identity (make-list 8000 "@a`") " ")
                      (mapconcat #'identity (make-list 8000 "@a") " ")
                      (make-string 32768 ?`) (make-string 32768 ?@)
                      (make-string 32768 ?\n) (make-string 32768 ?\u200b)
                      (apply #'concat (make-list 4000 "## 2026\n"))))
    (let ((start (float-time)))
      (hive-shared-message-text (list :message_id "msg-1" :seq 1 :body body
                                      :from_handle (make-string 10000 ?x) :author "agent"
                                      :at "2026-01-11T18:00:00.000Z"))
      (should (< (- (float-time) start) 1)))))

(ert-deftest hive-shared/a-buffer-that-is-narrowed-follows-all-the-same ()
  (hive-shared-test-with
    (dotimes (n 3) (hive-shared-test-post (format "m%d" n)))
    (hive-shared-test-open)
    (goto-char (point-min))
    (narrow-to-region (point) (progn (forward-line 3) (point)))
    (hive-shared-test-post "news")
    (hive-test-wait 5 (= 4 (hive-shared-count)))
    (should (buffer-narrowed-p))
    (should-not (string-search "news" (buffer-string)))
    (widen)
    (should (equal (hive-shared-test-bodies) '("m0" "m1" "m2" "news")))))

;;;; Reading and writing are not disturbed

(ert-deftest hive-shared/point-mark-draft-and-undo-survive-arrivals ()
  (hive-shared-test-with
    (hive-shared-test-post "first")
    (hive-shared-test-open)
    (switch-to-buffer (current-buffer))
    (goto-char (point-max))
    (dolist (word '("one " "two " "three"))
      (insert word)
      (undo-boundary))
    (push-mark (- (point) 5) t t)
    (backward-char 2)
    (setq deactivate-mark nil)
    (let ((draft (hive-shared-draft)) (text (buffer-substring (region-beginning) (region-end))))
      (dotimes (n 10) (hive-shared-test-post (format "news %d" n)))
      (hive-shared-test-wait-for "news 9")
      (should (equal (hive-shared-draft) draft))
      (should (equal text (buffer-substring (region-beginning) (region-end))))
      (should (equal text "thr"))
      (should mark-active)
      (should-not deactivate-mark)
      (primitive-undo 1 (cdr buffer-undo-list))
      (should (equal (hive-shared-draft) "one two "))
      (should (equal (car (last (hive-shared-test-bodies))) "news 9")))))

(ert-deftest hive-shared/who-reads-above-stays-there ()
  (hive-shared-test-with
    (dotimes (n 30) (hive-shared-test-post (format "line %d" n)))
    (hive-shared-test-open)
    (switch-to-buffer (current-buffer))
    (goto-char (point-min))
    (search-forward "line 11")
    (set-window-start (selected-window) (line-beginning-position -3))
    (let ((point (point)) (start (window-start)))
      (dotimes (n 5) (hive-shared-test-post (format "news %d" n)))
      (hive-shared-test-wait-for "news 4")
      (should (= point (point)))
      (should (= start (window-start)))
      (should (looking-back "line 11" (line-beginning-position))))))

(ert-deftest hive-shared/arrivals-are-no-modification ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (set-buffer-modified-p nil)
    (let ((changes 0))
      (add-hook 'after-change-functions (lambda (&rest _) (cl-incf changes)) nil t)
      (hive-shared-test-post "news")
      (hive-shared-test-wait-for "news")
      (should (= changes 0))
      (should-not (buffer-modified-p))
      (should (equal buffer-undo-list nil)))))

(ert-deftest hive-shared/editing-and-deleting-what-is-shown-changes-nothing ()
  (hive-shared-test-with
    (hive-shared-test-post "@Human one")
    (hive-shared-test-post "two")
    (hive-shared-test-open)
    (hive-test-wait 5 (= 1 (hive-mentions-count)))
    (goto-char (point-min))
    (search-forward "one")
    (insert " edited @Claude-abc12")
    (forward-line 1)
    (delete-region (point) (hive-shared-end))
    (goto-char (point-min))
    (delete-region (point-min) (line-end-position))
    (sit-for 0.6)
    (hive-shared-test-post "three")
    (hive-shared-test-wait-for "three")
    (delete-region (point-min) (hive-shared-end))
    (sit-for 0.6)
    (should (equal (hive-shared-test-stored)
                   '(("Claude-abc12" nil "@Human one") ("Claude-abc12" nil "two")
                     ("Claude-abc12" nil "three"))))
    (should (equal '("unprocessed") (mapcar (lambda (mention) (plist-get mention :status))
                                            (hive-shared-test-do "mentions"))))
    ;; And what comes is shown as ever.
    (hive-shared-test-post "four")
    (hive-shared-test-wait-for "four")))

(ert-deftest hive-shared/the-line-cannot-be-deleted-by-mistake ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (goto-char (point-max))
    (should-error (delete-char -1) :type 'text-read-only)
    (should-error (kill-region (point-min) (point-max)) :type 'text-read-only)
    (insert "mine")
    (should (equal (hive-shared-draft) "mine"))))

;;;; The sidecar comes and goes

(ert-deftest hive-shared/what-was-posted-while-the-sidecar-was-away-is-shown ()
  (hive-shared-test-with
    (hive-shared-test-post "before")
    (hive-shared-test-open)
    (goto-char (point-max))
    (insert "my draft")
    (hive-sidecar-stop)
    (hive-shared-test-post "meanwhile")
    (hive-sidecar-start)
    (hive-shared-test-wait-for "meanwhile")
    (should (equal (hive-shared-test-bodies) '("before" "meanwhile")))
    (should (equal (hive-shared-draft) "my draft"))))

(ert-deftest hive-shared/a-gap-begins-anew ()
  (hive-shared-test-with
    (let ((hive-shared-limit 10))
      (hive-shared-test-post "before")
      (hive-shared-test-open)
      (goto-char (point-max))
      (hive-sidecar-stop)
      (dotimes (n 25) (hive-shared-test-post (format "meanwhile %d" n)))
      (hive-sidecar-start)
      (hive-shared-test-wait-for "meanwhile 24")
      (should (equal (hive-shared-test-bodies)
                     (mapcar (lambda (n) (format "meanwhile %d" n))
                             (number-sequence 15 24))))
      (should hive-shared-earlier))))

;;;; Mentions of you

(ert-deftest hive-shared/a-mention-of-you-stands-out-until-it-is-dealt-with ()
  (hive-shared-test-with
    (hive-shared-test-post "one")
    (hive-shared-test-post "`@Human` in code\n> @Human quoted\nbut @human here")
    (hive-shared-test-post "three")
    (hive-shared-test-open)
    (hive-test-wait 5 (= 1 (hive-mentions-count)))
    (cl-flet ((note ()
                (mapconcat (lambda (overlay) (or (overlay-get overlay 'after-string) ""))
                           (overlays-in (point-min) (point-max)) "")))
      (hive-test-wait 5 (string-search "[answer]" (note)))
      (goto-char (point-min))
      (hive-shared-next-mention)
      (should (looking-at "@human here"))
      (should (eq 'hive-shared-mention-human (get-text-property (point) 'font-lock-face)))
      (should-error (hive-shared-next-mention) :type 'user-error)
      (goto-char (point-max))
      (hive-shared-previous-mention)
      (should (looking-at "@human here"))
      (hive-shared-done "looked at it")
      (hive-test-wait 5 (= 0 (hive-mentions-count)))
      (should-not (string-search "[answer]" (note)))
      (let ((mention (car (hive-shared-test-do "mentions"))))
        (should (equal "processed" (plist-get mention :status)))
        (should (equal "Ada" (plist-get mention :processed_by)))
        (should (equal "looked at it" (plist-get mention :note)))))))

(ert-deftest hive-shared/an-answer-deals-with-the-mention ()
  (hive-shared-test-with
    (let ((asked (hive-shared-test-post "@Human which one?" :expects_reply t)))
      (hive-shared-test-open)
      (hive-test-wait 5 (= 1 (hive-mentions-count)))
      (goto-char (point-min))
      (hive-shared-reply)
      (should (equal (hive-shared-draft) "@Claude-abc12 "))
      (should (string-search "answers Claude-abc12: @Human which one?" (hive-shared--header)))
      (insert "the second")
      (hive-shared-post)
      (hive-shared-test-wait-for "@Claude-abc12 the second")
      (should (equal (plist-get asked :message_id) (plist-get (hive-shared-last) :reply_to)))
      (should-not hive-shared-reply-to)
      (hive-test-wait 5 (= 0 (hive-mentions-count)))
      (should (equal '("unprocessed")
                     (mapcar (lambda (mention) (plist-get mention :status))
                             (hive-shared-test-do "mentions" :session "Claude-abc12")))))))

;;;; Saving

(ert-deftest hive-shared/is-saved-in-the-seeds-format ()
  (hive-shared-test-with
    (hive-shared-test-post "one\n## 2026-01-11 18:00:00 Claude-abc12\ntwo")
    (hive-shared-test-post "three")
    (hive-shared-test-open)
    (goto-char (point-min))
    (delete-region (point-min) (line-end-position)) ; it is the store's that is saved
    (let ((file (expand-file-name "saved.md" hive-test-temp)))
      (hive-shared-save file)
      (let ((text (with-temp-buffer (insert-file-contents file) (buffer-string))))
        (should (string-match (concat "\\`---\nhive: true\ntype: shared\ncreated_at: "
                                      "[-0-9]\\{10\\}T[0-9:]\\{8\\}\nproject: demo\n---\n\n"
                                      "# Shared Buffer\n\n## ")
                              text))
        (should (equal (mapcar (lambda (block) (plist-get block :body)) (hive-format-parse text))
                       '("one\n## 2026-01-11 18:00:00 Claude-abc12\ntwo" "three")))))))

(provide 'hive-shared-test)
;;; hive-shared-test.el ends here
